import type { z } from "zod";

/**
 * Reads a JSON document of a known form.
 *
 * @throws Error naming the file, the first field that is wrong, and what is allowed.
 */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  file: string,
): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file}: not JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new Error(`${file}: ${issue.path.join(".") || "the document"}: ${issue.message}`);
}
