/** The settings of the deployment step, from environment variables. */
import { z } from "zod";
import { ledgerUrl, readEnvironment, taskQueue, temporalSettings, type Environment } from "../settings.js";

const settingsSchema = z.object({
  /** With a role that owns the ledger's tables. */
  LEDGER_URL: ledgerUrl,
  ...temporalSettings,
  /** Without it only the schema is brought up to date, and no sweep is scheduled. */
  TEMPORAL_ADDRESS: temporalSettings.TEMPORAL_ADDRESS.unwrap().optional(),
  TEMPORAL_TASK_QUEUE: taskQueue,
  SWEEP_PROFILE: z.enum(["production", "demo"], "must be production or demo").default("production"),
});

export type MigrateSettings = z.infer<typeof settingsSchema>;

/** @throws SettingsError */
export function readSettings(environment: Environment): MigrateSettings {
  return readEnvironment(settingsSchema, environment, new Set(["LEDGER_URL", "TEMPORAL_API_KEY"]));
}
