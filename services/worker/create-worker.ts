import { fileURLToPath } from "node:url";
import { Worker, type NativeConnection, type WorkflowBundleOption } from "@temporalio/worker";
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
  /** Made by `bundle.ts`; without it the workflows are bundled at the start, which takes about 1.5 s. */
  readonly workflowBundle?: WorkflowBundleOption;
  /** Runs that are kept in memory; 0 replays each run from its beginning at every task. Default: the SDK's. */
  readonly maxCachedWorkflows?: number;
}

/** The folder of the workflows, compiled or not. */
export const workflowsPath = fileURLToPath(new URL("../../workflows", import.meta.url));

export function createWorker(options: CreateWorkerOptions): Promise<Worker> {
  const { connection, namespace, taskQueue, activities, identity, profile } = options;
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    identity,
    activities,
    ...(options.workflowBundle === undefined
      ? { workflowsPath }
      : { workflowBundle: options.workflowBundle }),
    ...workerProfiles[profile],
    ...(options.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: options.maxCachedWorkflows }),
    interceptors: { activity: [beatByTheClock] },
  });
}
