/**
 * A worker process from its settings to its end. `main.ts` runs it with the activities of production; what else can
 * be run is decided by who calls it, never by a switch in here.
 */
import { Client } from "@temporalio/client";
import { DefaultLogger, Runtime, type LogEntry, type Worker } from "@temporalio/worker";
import { pino, type Logger } from "pino";
import { openLedger, type Ledger } from "../../adapters/ledger/database.js";
import { checkSchema } from "../../adapters/ledger/migrate.js";
import { openWorkerConnection } from "../../adapters/temporal/connection.js";
import { createWorker } from "./create-worker.js";
import { errorForLog } from "../error-log.js";
import { badSettingsExitCode, SettingsError } from "../settings.js";
import { readSettings, type WorkerSettings } from "./settings.js";
import { wireSweeps } from "./sweeps.js";

/** Makes the activities; given everything that a process has one of. */
export type Wiring = (settings: WorkerSettings, ledger: Ledger, workerIdentity: string) => Promise<object>;

/**
 * Runs until SIGTERM or SIGINT, and then drains: no new tasks are taken, running activities get the profile's
 * `shutdownGraceTime`. Prints one line of JSON with `"event":"ready"` when it takes work. Sets the exit code.
 */
export async function runWorkerProcess(wire: Wiring): Promise<void> {
  let settings: WorkerSettings;
  try {
    settings = readSettings(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = badSettingsExitCode;
    return;
  }
  const identity = `${settings.WORKER_NAME}@${process.pid}`;
  const logger = pino({
    level: settings.WORKER_LOG_LEVEL,
    base: { service: "worker", identity },
    serializers: { err: errorForLog },
  });
  forwardLogs(logger);
  try {
    await serve(settings, identity, logger, wire);
  } catch (error) {
    logger.fatal({ err: error }, "the worker could not run");
    process.exitCode = 1;
  }
}

async function serve(
  settings: WorkerSettings,
  identity: string,
  logger: Logger,
  wire: Wiring,
): Promise<void> {
  const ledger = openLedger({ url: settings.LEDGER_URL, applicationName: identity });
  try {
    // A process from before a breaking step of the schema must not write to it.
    await checkSchema(ledger, settings.LEDGER_URL);
    const connection = await openWorkerConnection({
      address: settings.TEMPORAL_ADDRESS,
      namespace: settings.TEMPORAL_NAMESPACE,
      ...(settings.TEMPORAL_API_KEY === undefined ? {} : { apiKey: settings.TEMPORAL_API_KEY }),
    });
    try {
      // Over the worker's own connection: what the sweep asks about is where the worker works.
      const client = new Client({ connection, namespace: settings.TEMPORAL_NAMESPACE, identity });
      const worker = await createWorker({
        connection,
        namespace: settings.TEMPORAL_NAMESPACE,
        taskQueue: settings.TEMPORAL_TASK_QUEUE,
        activities: { ...(await wire(settings, ledger, identity)), ...wireSweeps(ledger, client) },
        identity,
        profile: settings.WORKER_PROFILE,
        ...(settings.WORKFLOW_BUNDLE === undefined
          ? {}
          : { workflowBundle: { codePath: settings.WORKFLOW_BUNDLE } }),
        ...(settings.WORKER_CACHED_WORKFLOWS === undefined
          ? {}
          : { maxCachedWorkflows: settings.WORKER_CACHED_WORKFLOWS }),
      });
      await runUntilDrained(worker, settings.TEMPORAL_TASK_QUEUE, identity);
      logger.info({ event: "stopped" });
    } finally {
      await connection.close();
    }
  } finally {
    await ledger.destroy();
  }
}

/** The SDK's runtime turns SIGTERM and SIGINT into a shutdown of all workers, after which `run` ends. */
async function runUntilDrained(worker: Worker, taskQueue: string, identity: string): Promise<void> {
  const drained = worker.run();
  process.stdout.write(`${JSON.stringify({ event: "ready", identity, taskQueue, pid: process.pid })}\n`);
  await drained;
}

const levels = { TRACE: "trace", DEBUG: "debug", INFO: "info", WARN: "warn", ERROR: "error" } as const;

/** The SDK's own lines, and those of workflows and activities, in the same form as ours. */
function forwardLogs(logger: Logger): void {
  const logThrough = ({ level, message, meta }: LogEntry) => logger[levels[level]](plain(meta), message);
  Runtime.install({
    logger: new DefaultLogger("DEBUG", logThrough),
    telemetryOptions: { logging: { forward: {}, filter: "WARN" } },
  });
}

/** Without the symbols that the SDK uses inside, and with the error where pino looks for it. */
function plain(meta: LogEntry["meta"]): Record<string, unknown> {
  const { error, ...fields } = { ...meta } as Record<string, unknown>;
  return error === undefined ? fields : { ...fields, err: error };
}
