import { fileURLToPath } from "node:url";
import { Worker, type NativeConnection, type WorkerOptions } from "@temporalio/worker";
import { beatByTheClock } from "./heartbeat.js";
import { workerProfiles, type ProfileName } from "./profiles.js";

export interface CreateWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly activities: object;
  /** `<name>@<pid>`: histories and journals show who did it. */
  readonly identity: string;
  readonly profile: ProfileName;
  /** A bundle made by `bundle.ts`; without it the workflows are bundled at the start, which takes about 1.5 s. */
  readonly workflowBundlePath?: string;
  /** Runs that are kept in memory; 0 replays each run from its beginning at every task. Default: the SDK's. */
  readonly maxCachedWorkflows?: number;
}

/** Compiled beside its source, so the same name works in `dist` and from a test. */
export const workflowsPath = fileURLToPath(import.meta.resolve("../../workflows/index.js"));

export function createWorker(options: CreateWorkerOptions): Promise<Worker> {
  const { connection, namespace, taskQueue, activities, identity, profile } = options;
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    identity,
    activities,
    ...workflowSource(options.workflowBundlePath),
    ...workerProfiles[profile],
    ...(options.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: options.maxCachedWorkflows }),
    interceptors: { activity: [beatByTheClock] },
  });
}

function workflowSource(
  bundlePath: string | undefined,
): Pick<WorkerOptions, "workflowBundle" | "workflowsPath"> {
  return bundlePath === undefined ? { workflowsPath } : { workflowBundle: { codePath: bundlePath } };
}
