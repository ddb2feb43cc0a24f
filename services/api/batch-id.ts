import { createHash } from "node:crypto";
import { keyPattern } from "../../workflows/invoice-approval/limits.js";

/** Separates caller and key. A caller whose own name holds it gets ids of the other form. */
const separator = "~";
/** The id becomes a part of workflow ids, review ids and mail references; beyond this it is a digest. */
const readableCharactersMax = 64;

/**
 * The id of the batch that a caller hands in under an idempotency key: the same for the same two, and different for
 * different ones. It is made from what the caller gave, so that the batch's workflow, its reviews and its mails can be
 * found by it, and so that an admission that is tried again anywhere comes to the same id.
 *
 * @returns `<caller>~<key>` where that is short and can stand in an id, else a SHA-256
 */
export function batchIdOf(caller: string, idempotencyKey: string): string {
  const readable = `${caller}${separator}${idempotencyKey}`;
  // With no separator in the caller's name, the first one ends it: no other two make the same text.
  if (!caller.includes(separator) && readable.length <= readableCharactersMax && keyPattern.test(readable))
    return readable;
  return createHash("sha256")
    .update(JSON.stringify([caller, idempotencyKey]))
    .digest("hex");
}
