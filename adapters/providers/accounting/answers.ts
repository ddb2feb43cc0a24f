/** What the accounting system publishes about its answers, and how its lookups are understood. Pure. */
import { z } from "zod";
import type { Found } from "../../../activities/operation/provider.js";
import type { InvoicePosting, PostingReceipt } from "../../../activities/ports.js";
import type { PublishedAnswers } from "../answers.js";
import type { Exchange } from "../http.js";
import { describeExchange, readJson, retryAfterMs } from "../wire.js";

const problems = "https://accounting.example/problems";

/** Fields that the system may add later are dropped, so that the same receipt stays the same. */
const receiptSchema = z.object({
  entryReference: z.string().min(1),
  invoiceKey: z.string().min(1),
  revision: z.int(),
  currency: z.string().length(3),
  amountMinor: z.int(),
  payloadDigest: z.string().min(1),
});

const lookupSchema = z.object({ items: z.array(receiptSchema) });

export const accountingAnswers: PublishedAnswers<PostingReceipt> = {
  receipt: receiptSchema,
  inProgress: `${problems}/request-in-progress`,
  exists: `${problems}/posting-exists`,
  keyReused: `${problems}/idempotency-key-reused`,
  refused: `${problems}/refused`,
  definitiveRefusals: ["period-closed", "supplier-blocked", "account-missing", "currency-not-kept"],
};

/**
 * `absent` needs the system's own word: a list, and it is empty. Any 404 is unknown, be it from a gateway or from a
 * system without lookup. More than one posting is unknown as well, with their numbers: which of them would be the
 * effect is for a person to say.
 */
export function toFound(exchange: Exchange, nowMs: number): Found<PostingReceipt> {
  const lookup =
    exchange.kind === "response" && exchange.status === 200 ? readJson(exchange, lookupSchema) : undefined;
  if (lookup === undefined) {
    const cause = describeExchange(exchange);
    const later = exchange.kind === "response" ? retryAfterMs(exchange.retryAfter, nowMs) : undefined;
    return later === undefined
      ? { found: "unknown", cause }
      : { found: "unknown", cause, retryAfterMs: later };
  }
  const [receipt, ...others] = lookup.items;
  if (receipt === undefined) return { found: "absent" };
  if (others.length === 0) return { found: "present", receipt };
  const entries = lookup.items.map(({ entryReference }) => entryReference).join(", ");
  return {
    found: "unknown",
    cause: `${lookup.items.length} postings carry ${receipt.invoiceKey}: ${entries}`,
  };
}

/** The same invoice, in the approved revision, with the same money and content. The entry's number is free. */
export function samePosting(request: InvoicePosting, receipt: PostingReceipt): boolean {
  return (
    receipt.invoiceKey === request.invoiceKey &&
    receipt.revision === request.revision &&
    receipt.currency === request.currency &&
    receipt.amountMinor === request.amountMinor &&
    receipt.payloadDigest === request.payloadDigest
  );
}
