import { mkdirSync, readdirSync } from "node:fs";
import { codeOf, messageOf, UserFacingError } from "./errors.js";

/**
 * For a folder that a person named as a place for output: made when it isn't there, used when it is empty, and
 * refused when something is in it, because nothing of theirs is ever overwritten.
 *
 * @throws UserFacingError when it is in the way or can't be made.
 */
export function requireEmptyFolder(path: string, purpose: string): string {
  let entries: string[];
  try {
    mkdirSync(path, { recursive: true });
    entries = readdirSync(path);
  } catch (error) {
    const what = codeOf(error) === "EEXIST" || codeOf(error) === "ENOTDIR" ? "is a file" : messageOf(error);
    throw new UserFacingError(`folder "${path}" for ${purpose} can't be used: ${what}. Name another.`, 2, {
      cause: error,
    });
  }
  if (entries.length > 0) {
    throw new UserFacingError(
      `folder "${path}" for ${purpose} is not empty. Name another, or remove what is in it (${entries.length} entries).`,
    );
  }
  return path;
}
