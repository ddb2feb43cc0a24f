/** What the operator's commands work on, from the same variables as the services. */
import { z } from "zod";
import { UserFacingError } from "../../platform/index.js";
import {
  ledgerUrl,
  readEnvironment,
  SettingsError,
  wholeMs,
  type Environment,
} from "../../services/settings.js";

const settingsSchema = z.object({
  LEDGER_URL: ledgerUrl,
  /** What has waited less is on its way and isn't listed. */
  OPS_WAITING_MS: wholeMs().default(60_000),
});

export type OpsSettings = z.infer<typeof settingsSchema>;

/** @throws UserFacingError naming each variable that is missing or bad */
export function readOpsSettings(environment: Environment): OpsSettings {
  try {
    return readEnvironment(settingsSchema, environment, new Set(["LEDGER_URL"]));
  } catch (error) {
    if (error instanceof SettingsError) throw new UserFacingError(error.message);
    throw error;
  }
}
