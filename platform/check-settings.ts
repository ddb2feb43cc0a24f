/** What can be seen to be wrong before anything is started. */
import { addressFrom, InvalidServerSetting, sourcesFrom } from "../adapters/temporal/server/index.js";
import { inspectServer } from "./database.js";
import { UserFacingError } from "./errors.js";

/**
 * Checks the variables that say where the servers are: a wrong one is told at once, and not under the lines of what was
 * started beside it.
 *
 * @throws UserFacingError naming the variable, and what is allowed
 */
export async function checkServerSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  try {
    sourcesFrom(environment);
    addressFrom(environment);
  } catch (error) {
    if (error instanceof InvalidServerSetting) throw new UserFacingError(error.message, 2, { cause: error });
    throw error;
  }
  const url = environment["DATABASE_URL"];
  if (url !== undefined && url !== "") await inspectServer(url);
}
