import { readFile } from "node:fs/promises";
import { messageOf, UserFacingError } from "../../platform/errors.js";

/**
 * Reads a file that a person named, or that belongs to a scenario.
 *
 * @param parse throws an error that names the file
 * @throws UserFacingError when it can't be read, or isn't what it should be
 */
export async function readParsed<T>(file: string, parse: (text: string, file: string) => T): Promise<T> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UserFacingError(`${file}: ${messageOf(error)}`);
  });
  try {
    return parse(text, file);
  } catch (error) {
    throw new UserFacingError(messageOf(error));
  }
}
