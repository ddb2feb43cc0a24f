/** The relay's settings, from environment variables. */
import { z } from "zod";

const wholeMs = (least: number) => {
  const allowed = `must be a whole number of milliseconds, at least ${least}`;
  return z.coerce.number(allowed).int(allowed).min(least, allowed);
};
const secret = z.string("must be a secret").min(1, "must be a secret");
const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

const settingsSchema = z.object({
  LEDGER_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: "must be the ledger's address: postgresql://user:password@host:port/database",
  }),
  TEMPORAL_ADDRESS: z
    .string("must be host:port")
    .regex(/^[^\s/]+:\d{1,5}$/, "must be host:port")
    .default("127.0.0.1:7233"),
  TEMPORAL_NAMESPACE: z.string().min(1, "must be a namespace").default("default"),
  TEMPORAL_API_KEY: secret.optional(),
  MAIL_URL: z.url({ protocol: /^https?$/, error: "must be an http or https address" }),
  MAIL_API_KEY: secret,
  /** How long the mail system remembers an idempotency key. Half of it after a first try, a mail isn't tried again. */
  MAIL_KEYS_LIVE_MS: z
    .union(
      [z.literal("for-ever").transform(() => null), wholeMs(1)],
      "must be for-ever or a whole number of milliseconds",
    )
    .default(null),
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
  RELAY_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,40}$/, "must be 1 to 40 letters, digits and . _ -")
    .default("relay"),
  RELAY_LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info"),
});

export type RelaySettings = z.infer<typeof settingsSchema>;

/** One line for each bad variable. Secrets and addresses with passwords aren't shown. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

const hidden = new Set(["LEDGER_URL", "TEMPORAL_API_KEY", "MAIL_API_KEY"]);

/**
 * @throws `SettingsError` for each variable that is missing or bad, and for a lease that a send could outlive.
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): RelaySettings {
  const result = settingsSchema.safeParse(environment);
  if (!result.success) {
    const lines = result.error.issues.map((issue) => {
      const name = String(issue.path[0]);
      return `${name} ${issue.message}; it is ${shown(name, environment[name])}`;
    });
    throw new SettingsError(lines.join("\n"));
  }
  const { RELAY_LEASE_MS: lease, RELAY_SEND_TIMEOUT_MS: send } = result.data;
  if (lease <= send) {
    throw new SettingsError(
      `RELAY_LEASE_MS must be longer than RELAY_SEND_TIMEOUT_MS (${send}), or two relays send one message at ` +
        `the same time; it is ${lease}`,
    );
  }
  return result.data;
}

function shown(name: string, value: string | undefined): string {
  if (value === undefined) {
    return "not set";
  }
  return hidden.has(name) ? `set to ${value.length} characters (not shown)` : JSON.stringify(value);
}
