/**
 * Brings the ledger's schema to this version and ends: the step before the other processes of a deployment, which
 * refuse a ledger that lacks a step. Running it twice, or twice at once, does no harm.
 */
import { migrate } from "../../adapters/ledger/migrate.js";
import { badSettingsExitCode, SettingsError } from "../settings.js";
import { readSettings } from "./settings.js";

try {
  const { applied } = await migrate({ url: readSettings(process.env).LEDGER_URL });
  process.stdout.write(`${JSON.stringify({ event: "migrated", applied })}\n`);
} catch (error) {
  // What the ledger throws here names the address without its password, and what would help.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof SettingsError ? badSettingsExitCode : 1;
}
