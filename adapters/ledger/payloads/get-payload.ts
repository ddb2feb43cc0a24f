import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";
import { sha256 } from "../json.js";

/** Nothing is stored under the digest: it was never stored here, or the digest is wrong. */
export class UnknownPayload extends Error {
  override readonly name = "UnknownPayload";
}

/** What is stored isn't what the digest says; the database was changed behind the ledger's back. */
export class DamagedPayload extends Error {
  override readonly name = "DamagedPayload";
}

/**
 * Reads a stored value, and proves that it is the one that the digest was taken of.
 *
 * ```sql
 * select content from payloads where digest = $1
 * ```
 *
 * @throws `UnknownPayload` when nothing is stored under the digest, `DamagedPayload` when something else is.
 */
export async function getPayload(ledger: Ledger, digest: string): Promise<JsonValue> {
  const row = await ledger
    .selectFrom("payloads")
    .select("content")
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) {
    throw new UnknownPayload(`No payload is stored under the digest "${digest}".`);
  }
  const found = sha256(row.content);
  if (found !== digest) {
    throw new DamagedPayload(`The payload stored under ${digest} has the digest ${found}.`);
  }
  return JSON.parse(row.content) as JsonValue;
}
