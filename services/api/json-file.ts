import { readFile } from "node:fs/promises";
import type { z } from "zod";
import { SettingsError } from "../settings.js";

/**
 * Reads a file of settings.
 *
 * @param variable which environment variable names it, for the error
 * @throws SettingsError with one line for each field that is wrong, without the field's value, which may be a secret
 */
export async function readJsonFile<Schema extends z.ZodType>(
  variable: string,
  file: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const name = `${variable} names ${file}`;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new SettingsError(`${name}, which can't be read: ${(error as Error).message}`);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // The parser's own message shows a part of the file.
    throw new SettingsError(`${name}, which isn't JSON`);
  }
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  const lines = result.error.issues.map(
    (issue) => `${name}, where ${issue.path.join(".") || "the whole"} is wrong: ${issue.message}`,
  );
  throw new SettingsError(lines.join("\n"));
}
