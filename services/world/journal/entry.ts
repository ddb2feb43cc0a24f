/** What the journal says of each request, in the order in which it became true. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { z } from "zod";
import { systems } from "../faults/fault.js";

/** `manual` and `put` are what the other company's own people do: an entry by hand, a file put in place. */
export const journalOperations = ["post", "find", "fetch", "send", "manual", "put"] as const;

export const journalKinds = [
  /** The request was read, and nothing has been done yet. */
  "received",
  /** The effect is there; this row and the effect are one transaction. */
  "committed",
  /** The answer with this status was handed to the connection; whether it arrived can't be known here. */
  "answered",
  /** The connection was broken instead of answering. */
  "dropped",
] as const;

export const journalEntrySchema = z.strictObject({
  /** Rises in the order of the commits, so that a reader who has seen n will never find a new row below n. */
  seq: z.int(),
  at: z.iso.datetime(),
  system: z.enum(systems),
  operation: z.enum(journalOperations),
  kind: z.enum(journalKinds),
  /** Ties the rows of one request together. */
  requestId: z.uuid(),
  /** What the request is about: the invoice key, the document id, the message's reference. */
  key: z.string(),
  idempotencyKey: z.string().nullable(),
  /** SHA-256 of the canonical JSON (RFC 8785) of `content`, in lower-case hex. */
  digest: z.string(),
  /** The request as understood; of a `committed` row, what was committed. */
  content: z.json(),
  status: z.int().nullable(),
  /** The kinds of the faults that touched this request. */
  faults: z.array(z.string()),
});

export type JournalEntry = z.infer<typeof journalEntrySchema>;
export type JournalOperation = (typeof journalOperations)[number];
export type JournalKind = (typeof journalKinds)[number];
export type Content = z.infer<ReturnType<typeof z.json>>;

/** SHA-256 of the canonical JSON (RFC 8785), in lower-case hex. */
export function digestOf(content: Content): string {
  return createHash("sha256").update(canonicalize(content)!).digest("hex");
}
