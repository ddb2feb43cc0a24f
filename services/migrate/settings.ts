/** The migration's settings, from environment variables. */
import { z } from "zod";
import { ledgerUrl, readEnvironment, type Environment } from "../settings.js";

const settingsSchema = z.object({
  /** With a role that owns the ledger's tables. */
  LEDGER_URL: ledgerUrl,
});

export type MigrateSettings = z.infer<typeof settingsSchema>;

/** @throws SettingsError */
export function readSettings(environment: Environment): MigrateSettings {
  return readEnvironment(settingsSchema, environment, new Set(["LEDGER_URL"]));
}
