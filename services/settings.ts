/**
 * What the settings of all our processes have in common: variables that several of them take, and how a bad one is
 * told. Each process declares its own schema of these and of what only it has.
 */
import { z } from "zod";

/** One line for each bad variable, naming it, what is allowed, and its value unless that may hold a secret. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** The program was called wrongly and nothing was started. */
export const badSettingsExitCode = 2;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a process's settings.
 *
 * @param hidden variables that hold a secret, or an address with a password; only their length is told
 * @throws SettingsError
 */
export function readEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  environment: Environment,
  hidden: ReadonlySet<string>,
): z.output<Schema> {
  const result = schema.safeParse(environment);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `${name} ${issue.message}; it is ${shown(environment[name], hidden.has(name))}`;
  });
  throw new SettingsError(lines.join("\n"));
}

function shown(value: string | undefined, isHidden: boolean): string {
  if (value === undefined) return "not set";
  return isHidden ? `set to ${value.length} characters (not shown)` : JSON.stringify(value);
}

/** @param least the smallest that is allowed; default 0 */
export function wholeMs(least = 0) {
  const allowed = `must be a whole number of milliseconds, at least ${least}`;
  return z.coerce.number(allowed).int(allowed).min(least, allowed);
}

/** How long an outside system remembers an idempotency key: `for-ever`, which becomes `null`, or milliseconds. */
export const keysLiveMs = z
  .union(
    [z.literal("for-ever").transform(() => null), wholeMs(1)],
    "must be for-ever or a whole number of milliseconds, at least 1",
  )
  .default(null);

/** Of a process, as histories, connections and logs show it. */
export const processName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,60}$/, "must be 1 to 60 letters, digits and . _ -");

export const secret = z.string("must be a secret").min(1, "must be a secret");
export const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https address" });
export const taskQueue = z.string().min(1, "must be a name").default("killproof");

const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;
export const logLevel = z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info");

export const ledgerUrl = z.url({
  protocol: /^postgres(ql)?$/,
  error: "must be the ledger's address: postgresql://user:password@host:port/database",
});

/** To be spread into a process's schema. */
export const temporalSettings = {
  TEMPORAL_ADDRESS: z
    .string("must be host:port")
    .regex(/^[^\s/]+:\d{1,5}$/, "must be host:port")
    .default("127.0.0.1:7233"),
  TEMPORAL_NAMESPACE: z.string().min(1, "must be a namespace").default("default"),
  TEMPORAL_API_KEY: secret.optional(),
} as const;
