/** The worker's settings, from environment variables. */
import { z } from "zod";
import type { ProviderPolicy } from "../../activities/operation/provider.js";
import {
  httpUrl,
  keysLiveMs,
  ledgerUrl,
  logLevel,
  processName,
  readEnvironment,
  secret,
  taskQueue,
  temporalSettings,
  wholeMs,
  type Environment,
} from "../settings.js";

const yesOrNo = z.enum(["yes", "no"], "must be yes or no").transform((text) => text === "yes");

const settingsSchema = z.object({
  ...temporalSettings,
  TEMPORAL_TASK_QUEUE: taskQueue,
  LEDGER_URL: ledgerUrl,
  ACCOUNTING_URL: httpUrl,
  ACCOUNTING_API_KEY: secret,
  DOCUMENTS_URL: httpUrl,
  DOCUMENTS_API_KEY: secret,
  SUPPLIERS_FILE: z.string("must be a file").min(1, "must be a file"),
  /** When a call to an outside system counts as unanswered. */
  PROVIDER_TIMEOUT_MS: wholeMs().default(10_000),
  ACCOUNTING_HONOURS_KEYS: yesOrNo.default(true),
  ACCOUNTING_KEYS_LIVE_MS: keysLiveMs,
  ACCOUNTING_CAN_FIND: yesOrNo.default(true),
  /** Worst commit latency plus worst read lag of accounting. Too short doubles postings, too long only waits. */
  ACCOUNTING_SETTLE_MS: wholeMs().default(10 * 60_000),
  ACCOUNTING_PARK_AFTER_MS: wholeMs().default(24 * 3_600_000),
  WORKER_NAME: processName.default("worker"),
  WORKER_PROFILE: z.enum(["production", "quick"], "must be production or quick").default("production"),
  WORKER_CACHED_WORKFLOWS: z.coerce
    .number("must be a whole number, 0 for no cache")
    .int("must be a whole number, 0 for no cache")
    .min(0, "must be a whole number, 0 for no cache")
    .optional(),
  WORKER_LOG_LEVEL: logLevel,
  WORKFLOW_BUNDLE: z.string().min(1, "must be a file").optional(),
});

export type WorkerSettings = z.infer<typeof settingsSchema>;

const hidden = new Set(["TEMPORAL_API_KEY", "LEDGER_URL", "ACCOUNTING_API_KEY", "DOCUMENTS_API_KEY"]);

/** @throws SettingsError */
export function readSettings(environment: Environment): WorkerSettings {
  return readEnvironment(settingsSchema, environment, hidden);
}

/** How this installation's accounting behaves. */
export function accountingPolicy(settings: WorkerSettings): ProviderPolicy {
  return {
    honoursKeys: settings.ACCOUNTING_HONOURS_KEYS,
    keysLiveForMs: settings.ACCOUNTING_KEYS_LIVE_MS,
    canFind: settings.ACCOUNTING_CAN_FIND,
    settleMs: settings.ACCOUNTING_SETTLE_MS,
    parkAfterMs: settings.ACCOUNTING_PARK_AFTER_MS,
  };
}
