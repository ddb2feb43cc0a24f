/** The worker's settings, from environment variables. */
import { z } from "zod";
import type { ProviderPolicy } from "../../activities/operation/provider.js";

const durationMs = (allowed: string) =>
  z.coerce.number(`must be ${allowed}`).int(`must be ${allowed}`).min(0, `must be ${allowed}`);
const milliseconds = durationMs("a whole number of milliseconds");
const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https address" });
const secret = z.string("must be a secret").min(1, "must be a secret");
const yesOrNo = z.enum(["yes", "no"], "must be yes or no").transform((text) => text === "yes");
const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

const settingsSchema = z.object({
  TEMPORAL_ADDRESS: z
    .string("must be host:port")
    .regex(/^[^\s/]+:\d{1,5}$/, "must be host:port")
    .default("127.0.0.1:7233"),
  TEMPORAL_NAMESPACE: z.string().min(1, "must be a namespace").default("default"),
  TEMPORAL_API_KEY: secret.optional(),
  TEMPORAL_TASK_QUEUE: z.string().min(1, "must be a name").default("killproof"),
  LEDGER_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: "must be the ledger's address: postgresql://user:password@host:port/database",
  }),
  ACCOUNTING_URL: httpUrl,
  ACCOUNTING_API_KEY: secret,
  DOCUMENTS_URL: httpUrl,
  DOCUMENTS_API_KEY: secret,
  SUPPLIERS_FILE: z.string("must be a file").min(1, "must be a file"),
  /** When a call to an outside system counts as unanswered. */
  PROVIDER_TIMEOUT_MS: milliseconds.default(10_000),
  ACCOUNTING_HONOURS_KEYS: yesOrNo.default(true),
  ACCOUNTING_KEYS_LIVE_MS: z
    .union(
      [z.literal("for-ever").transform(() => null), durationMs("")],
      "must be for-ever or a whole number of milliseconds",
    )
    .default(null),
  ACCOUNTING_CAN_FIND: yesOrNo.default(true),
  /** Worst commit latency plus worst read lag of accounting. Too short doubles postings, too long only waits. */
  ACCOUNTING_SETTLE_MS: milliseconds.default(10 * 60_000),
  ACCOUNTING_PARK_AFTER_MS: milliseconds.default(24 * 3_600_000),
  WORKER_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,60}$/, "must be 1 to 60 letters, digits and . _ -")
    .default("worker"),
  WORKER_PROFILE: z.enum(["production", "quick"], "must be production or quick").default("production"),
  WORKER_CACHED_WORKFLOWS: z.coerce
    .number("must be a whole number, 0 for no cache")
    .int("must be a whole number, 0 for no cache")
    .min(0, "must be a whole number, 0 for no cache")
    .optional(),
  WORKER_LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info"),
  WORKFLOW_BUNDLE: z.string().min(1, "must be a file").optional(),
});

export type WorkerSettings = z.infer<typeof settingsSchema>;

/** One line for each bad variable. Secrets and addresses with passwords aren't shown. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

const hidden = new Set(["TEMPORAL_API_KEY", "LEDGER_URL", "ACCOUNTING_API_KEY", "DOCUMENTS_API_KEY"]);

/** @throws SettingsError */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): WorkerSettings {
  const result = settingsSchema.safeParse(environment);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name} ${issue.message}; it is ${shown(name, environment[name])}`;
  });
  throw new SettingsError(lines.join("\n"));
}

function shown(name: string, value: string | undefined): string {
  if (value === undefined) return "not set";
  return hidden.has(name) ? `set to ${value.length} characters (not shown)` : JSON.stringify(value);
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
