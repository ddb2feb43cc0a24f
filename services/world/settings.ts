/** The world's settings, from environment variables. */
import { z } from "zod";

const port = z.coerce
  .number("must be a port from 0 to 65535; 0 takes a free one")
  .int("must be a port from 0 to 65535; 0 takes a free one")
  .min(0, "must be a port from 0 to 65535; 0 takes a free one")
  .max(65_535, "must be a port from 0 to 65535; 0 takes a free one")
  .default(0);

/** Sixteen characters: short ones are guessed. */
const secretCharactersMin = 16;
const secret = z
  .string(`must be a secret of at least ${secretCharactersMin} characters`)
  .regex(/^\S+$/, "must be without spaces")
  .min(secretCharactersMin, `must be a secret of at least ${secretCharactersMin} characters`);

const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

const secretNames = [
  "WORLD_ACCOUNTING_API_KEY",
  "WORLD_DOCUMENTS_API_KEY",
  "WORLD_MAIL_API_KEY",
  "WORLD_CONTROL_TOKEN",
  "WORLD_JUDGE_TOKEN",
] as const;

const settingsSchema = z
  .object({
    /** With a role that owns the database and may create roles; used at the start only. */
    WORLD_DATABASE_URL: z.url({
      protocol: /^postgres(ql)?$/,
      error: "must be the address of the world's own database: postgresql://user:password@host:port/database",
    }),
    WORLD_ACCOUNTING_API_KEY: secret,
    WORLD_DOCUMENTS_API_KEY: secret,
    WORLD_MAIL_API_KEY: secret,
    WORLD_CONTROL_TOKEN: secret,
    WORLD_JUDGE_TOKEN: secret,
    /** Its files are the first documents. */
    WORLD_DOCUMENTS_FOLDER: z.string().min(1, "must be a folder").optional(),
    /** Of the network interface that all listeners take; others than this machine can reach it only when it is told so. */
    WORLD_LISTEN_ADDRESS: z.union([z.ipv4(), z.ipv6()], "must be an IP address").default("127.0.0.1"),
    WORLD_ACCOUNTING_PORT: port,
    WORLD_DOCUMENTS_PORT: port,
    WORLD_MAIL_PORT: port,
    WORLD_CONTROL_PORT: port,
    WORLD_LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info"),
  })
  .superRefine((settings, context) => {
    for (const name of secretNames) {
      const twin = secretNames.find((other) => other !== name && settings[other] === settings[name]);
      if (twin !== undefined) {
        context.addIssue({ code: "custom", path: [name], message: `must differ from ${twin}` });
      }
    }
  });

export type Settings = z.infer<typeof settingsSchema>;

/** Carries one line per bad variable; secrets and addresses with passwords aren't shown. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** @throws SettingsError */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
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
  const hidden = name === "WORLD_DATABASE_URL" || (secretNames as readonly string[]).includes(name);
  return hidden ? `set to ${value.length} characters (not shown)` : JSON.stringify(value);
}
