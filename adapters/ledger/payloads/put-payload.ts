import type { Ledger } from "../database.js";
import { sha256, storableJson } from "../json.js";

/**
 * Largest payload in bytes of canonical JSON. An extracted invoice takes a few thousand and the API takes a million
 * at most; what is larger belongs in a store for files, with its reference here.
 */
export const payloadBytesMax = 1_048_576;

/** The content is larger than `payloadBytesMax`. */
export class PayloadTooLarge extends RangeError {
  override readonly name = "PayloadTooLarge";
}

/**
 * Stores a value under the digest of its canonical JSON (RFC 8785). The same value gives the same digest, however
 * often and by whomever it is stored; what is stored never changes.
 *
 * ```sql
 * insert into payloads (digest, kind, content) values ($1, $2, $3) on conflict (digest) do nothing
 * ```
 *
 * @param kind what the content is, for people: `extracted-invoice`.
 * @returns the digest: SHA-256 in lower-case hex.
 * @throws `NotStorable` when the value isn't JSON, `PayloadTooLarge` above `payloadBytesMax`.
 */
export async function putPayload(ledger: Ledger, kind: string, value: unknown): Promise<string> {
  const content = storableJson(`the payload "${kind}"`, value);
  const bytes = Buffer.byteLength(content, "utf8");
  if (bytes > payloadBytesMax) {
    throw new PayloadTooLarge(
      `The payload "${kind}" takes ${bytes} bytes as canonical JSON; allowed: at most ${payloadBytesMax}.`,
    );
  }
  const digest = sha256(content);
  await ledger
    .insertInto("payloads")
    .values({ digest, kind, content })
    .onConflict((conflict) => conflict.column("digest").doNothing())
    .execute();
  return digest;
}
