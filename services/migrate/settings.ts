/** The migration's settings, from environment variables. */
import { z } from "zod";

const settingsSchema = z.object({
  /** With a role that owns the ledger's tables. */
  LEDGER_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: "must be the ledger's address: postgresql://user:password@host:port/database",
  }),
});

export type MigrateSettings = z.infer<typeof settingsSchema>;

/** One line for each bad variable. The address holds a password and isn't shown. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** @throws SettingsError */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): MigrateSettings {
  const result = settingsSchema.safeParse(environment);
  if (result.success) return result.data;
  const value = environment["LEDGER_URL"];
  const shown = value === undefined ? "not set" : `set to ${value.length} characters (not shown)`;
  throw new SettingsError(
    result.error.issues.map((issue) => `LEDGER_URL ${issue.message}; it is ${shown}`).join("\n"),
  );
}
