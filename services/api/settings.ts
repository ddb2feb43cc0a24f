/** The API's settings, from environment variables. */
import { z } from "zod";
import {
  ledgerUrl,
  logLevel,
  processName,
  readEnvironment,
  taskQueue,
  type Environment,
} from "../settings.js";

const portText = "must be a port from 0 to 65535; 0 takes a free one";
const countText = "must be a whole number from 1 to 1000";

const settingsSchema = z.object({
  LEDGER_URL: ledgerUrl,
  /** Who may call, with the digests of their keys; see `callers.ts`. */
  API_CALLERS_FILE: z.string("must be a file").min(1, "must be a file"),
  /** What an admitted batch is processed under; see `policy-file.ts`. */
  INVOICE_POLICY_FILE: z.string("must be a file").min(1, "must be a file"),
  API_LISTEN_ADDRESS: z.union([z.ipv4(), z.ipv6()], "must be an IP address").default("127.0.0.1"),
  API_PORT: z.coerce.number(portText).int(portText).min(0, portText).max(65_535, portText).default(0),
  /** Where the workers of the admitted batches listen. */
  TEMPORAL_TASK_QUEUE: taskQueue,
  /** Per tenant. More lets one tenant's burst delay the others, fewer makes its client wait. */
  API_OPEN_BATCHES_MAX: z.coerce
    .number(countText)
    .int(countText)
    .min(1, countText)
    .max(1_000, countText)
    .default(4),
  API_NAME: processName.default("api"),
  API_LOG_LEVEL: logLevel,
});

export type ApiSettings = z.infer<typeof settingsSchema>;

/** @throws SettingsError; the ledger's address holds a password and isn't shown */
export function readSettings(environment: Environment): ApiSettings {
  return readEnvironment(settingsSchema, environment, new Set(["LEDGER_URL"]));
}
