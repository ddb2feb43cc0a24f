/**
 * The step before the other processes of a deployment, which refuse a ledger that lacks a step: brings the ledger's
 * schema to this version, and the schedule of the sweeps to its figures. Running it twice, or twice at once, does no
 * harm. The schedule is made here and not by the workers, so that a deployment of ten workers has one place that says
 * how often, and a worker that starts changes nothing but itself.
 */
import { migrate } from "../../adapters/ledger/migrate.js";
import { openTemporalClient } from "../../adapters/temporal/client.js";
import { ensureSweepSchedule } from "../../adapters/temporal/sweep-schedule.js";
import { badSettingsExitCode, SettingsError } from "../settings.js";
import { readSettings, type MigrateSettings } from "./settings.js";
import { sweepPolicies } from "./sweep-policies.js";

try {
  const settings = readSettings(process.env);
  const { applied } = await migrate({ url: settings.LEDGER_URL });
  const sweeps = await schedule(settings);
  process.stdout.write(`${JSON.stringify({ event: "migrated", applied, sweeps })}\n`);
} catch (error) {
  // What the ledger throws here names the address without its password, and what would help.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof SettingsError ? badSettingsExitCode : 1;
}

async function schedule(settings: MigrateSettings): Promise<"created" | "updated" | "not scheduled"> {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_API_KEY: apiKey } = settings;
  if (address === undefined) return "not scheduled";
  const client = await openTemporalClient({
    address,
    namespace,
    identity: `migrate@${process.pid}`,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  try {
    const policy = sweepPolicies[settings.SWEEP_PROFILE];
    const { intervalMs, workflowTaskTimeoutMs } = policy;
    const taskQueue = settings.TEMPORAL_TASK_QUEUE;
    return await ensureSweepSchedule(client, { taskQueue, intervalMs, workflowTaskTimeoutMs, policy });
  } finally {
    await client.connection.close();
  }
}
