/** Posting as one writes it when nothing is expected to go wrong. */
import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { InvoiceActivities } from "../../../activities/invoice-approval/index.js";
import { postingOf } from "../../../activities/invoice-approval/post-invoice.js";
import type { Accounting, PayloadStore } from "../../../activities/ports.js";

/**
 * What is left out: a key that outlives the attempt, and the journal. Each attempt is a new request to accounting, so
 * a crash between accounting's commit and the record of our result posts the invoice a second time.
 */
export function createNaivePosting({
  payloads,
  accounting,
}: {
  readonly payloads: PayloadStore;
  readonly accounting: Accounting;
}): InvoiceActivities["postInvoice"] {
  return async (request) => {
    const posting = await postingOf(payloads, request);
    const signal = Context.current().cancellationSignal;
    const answer = await accounting.send(posting, { providerKey: randomUUID(), signal });
    if (answer.outcome === "done") return answer.receipt;
    throw ApplicationFailure.retryable(`accounting answered ${answer.outcome}`, "PostingFailed");
  };
}
