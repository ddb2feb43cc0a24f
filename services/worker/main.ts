/** The worker process. Settings come from the environment; see `settings.ts`. */
import { wireActivities } from "./activities.js";
import { runWorkerProcess } from "./run-worker.js";

await runWorkerProcess(wireActivities);
