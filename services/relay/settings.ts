/** The relay's settings, from environment variables. */
import { z } from "zod";
import {
  httpUrl,
  keysLiveMs,
  ledgerUrl,
  logLevel,
  processName,
  readEnvironment,
  secret,
  SettingsError,
  temporalSettings,
  wholeMs,
  type Environment,
} from "../settings.js";

const settingsSchema = z.object({
  LEDGER_URL: ledgerUrl,
  ...temporalSettings,
  MAIL_URL: httpUrl,
  MAIL_API_KEY: secret,
  /** How long the mail system remembers an idempotency key. Half of it after a first try, a mail isn't tried again. */
  MAIL_KEYS_LIVE_MS: keysLiveMs,
  /** When a send counts as unanswered, to Temporal and to the mail system alike. */
  RELAY_SEND_TIMEOUT_MS: wholeMs(1).default(10_000),
  /**
   * Three sends long: time for one send, for the settlement with its retries, and for a slow machine. Too short
   * sends twice, too long delays what a dead relay had claimed.
   */
  RELAY_LEASE_MS: wholeMs(1).default(30_000),
  /** One query on an index; notifications carry the load. */
  RELAY_POLL_MS: wholeMs(10).default(5_000),
  RELAY_BATCH_SIZE: z.coerce
    .number("must be 1 to 1000")
    .int("must be 1 to 1000")
    .min(1, "must be 1 to 1000")
    .max(1_000, "must be 1 to 1000")
    .default(20),
  RELAY_NAME: processName.default("relay"),
  RELAY_LOG_LEVEL: logLevel,
});

export type RelaySettings = z.infer<typeof settingsSchema>;

const hidden = new Set(["LEDGER_URL", "TEMPORAL_API_KEY", "MAIL_API_KEY"]);

/**
 * @throws `SettingsError` for each variable that is missing or bad, and for a lease that a send could outlive.
 */
export function readSettings(environment: Environment): RelaySettings {
  const settings = readEnvironment(settingsSchema, environment, hidden);
  const { RELAY_LEASE_MS: lease, RELAY_SEND_TIMEOUT_MS: send } = settings;
  if (lease <= send) {
    throw new SettingsError(
      `RELAY_LEASE_MS must be longer than RELAY_SEND_TIMEOUT_MS (${send}), or two relays send one message at ` +
        `the same time; it is ${lease}`,
    );
  }
  return settings;
}
