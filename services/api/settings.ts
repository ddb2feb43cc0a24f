/** The API's settings, from environment variables. */
import { z } from "zod";

const portText = "must be a port from 0 to 65535; 0 takes a free one";
const countText = "must be a whole number from 1 to 1000";
const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

const settingsSchema = z.object({
  LEDGER_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: "must be the ledger's address: postgresql://user:password@host:port/database",
  }),
  /** Who may call, with the digests of their keys; see `callers.ts`. */
  API_CALLERS_FILE: z.string("must be a file").min(1, "must be a file"),
  /** What an admitted batch is processed under; see `policy-file.ts`. */
  INVOICE_POLICY_FILE: z.string("must be a file").min(1, "must be a file"),
  API_LISTEN_ADDRESS: z.union([z.ipv4(), z.ipv6()], "must be an IP address").default("127.0.0.1"),
  API_PORT: z.coerce.number(portText).int(portText).min(0, portText).max(65_535, portText).default(0),
  /** Where the workers of the admitted batches listen. */
  TEMPORAL_TASK_QUEUE: z.string().min(1, "must be a name").default("killproof"),
  /** Per tenant. More lets one tenant's burst delay the others, fewer makes its client wait. */
  API_OPEN_BATCHES_MAX: z.coerce
    .number(countText)
    .int(countText)
    .min(1, countText)
    .max(1_000, countText)
    .default(4),
  API_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,40}$/, "must be 1 to 40 letters, digits and . _ -")
    .default("api"),
  API_LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info"),
});

export type ApiSettings = z.infer<typeof settingsSchema>;

/** One line for each bad variable, or for a file that a variable names and that can't be used. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** @throws SettingsError; the ledger's address holds a password and isn't shown */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): ApiSettings {
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
  return name === "LEDGER_URL" ? `set to ${value.length} characters (not shown)` : JSON.stringify(value);
}
