import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { FailureName } from "../../failures/catalogue.js";
import { asApplicationFailure } from "../operation/as-application-failure.js";
import type { BusinessProjection } from "../operation/fingerprint.js";
import type { Performed } from "../operation/call.js";
import type { OperationJournal } from "../operation/journal.js";
import { perform } from "../operation/perform.js";
import type { Accounting, InvoicePosting, PayloadStore, PostingReceipt } from "../ports.js";
import type { PostingRequest } from "./steps.js";
import { mismatch, storedInvoice } from "./stored-invoice.js";

export interface PostingDependencies {
  readonly payloads: PayloadStore;
  readonly accounting: Accounting;
  readonly journal: OperationJournal;
  /** For the journal's events: which worker did it. */
  readonly workerIdentity: string;
}

/** Everything that accounting books is business; a field that isn't would be added without being listed here. */
export const postingProjection: BusinessProjection<InvoicePosting> = {
  version: 1,
  of: (posting) => ({
    invoiceKey: posting.invoiceKey,
    revision: posting.revision,
    supplierId: posting.supplierId,
    invoiceNumber: posting.invoiceNumber,
    currency: posting.currency,
    amountMinor: posting.amountMinor,
    payloadDigest: posting.payloadDigest,
  }),
};

/**
 * Posts the stored invoice behind the digest, never a second reading of the document.
 *
 * Crash before the journal's record: nothing was sent; the next attempt begins anew.
 * Crash after it, before or during the send: `submitting`; the next attempt repeats under the same key or asks.
 * Crash after accounting's commit, before our record: the same; what it finds is compared and becomes the receipt.
 * Crash after our record: the next attempt gets the stored receipt, and accounting hears nothing.
 */
export function createPostInvoice({ payloads, accounting, journal, workerIdentity }: PostingDependencies) {
  return async function postInvoice(request: PostingRequest): Promise<PostingReceipt> {
    const posting = await postingOf(payloads, request);
    const context = Context.current();
    try {
      const performed = await perform(
        {
          journal,
          provider: accounting,
          key: request.operationKey,
          request: posting,
          projection: postingProjection,
          // A corrected revision may be sent after a refusal, and only then; the journal keeps to that.
          repair: request.invoice.revision,
        },
        {
          attempt: context.info.attempt,
          worker: workerIdentity,
          signal: context.cancellationSignal,
        },
      );
      return receiptOf(performed, accounting, posting, request.operationKey);
    } catch (error) {
      throw asApplicationFailure(error);
    }
  };
}

/**
 * Accounting books at once or not at all, so any other end is new to us. A receipt may also come from a person's
 * answer; one without the entry's number, or about another posting, is no proof. In both cases a person has to look.
 */
function receiptOf(
  performed: Performed<PostingReceipt>,
  accounting: Accounting,
  posting: InvoicePosting,
  operationKey: string,
): PostingReceipt {
  if (performed.outcome !== "done")
    throw unrecognised(`${operationKey}: accounting ended with ${performed.outcome}`);
  const { receipt } = performed;
  if (typeof receipt.entryReference !== "string" || !accounting.sameEffect(posting, receipt)) {
    throw unrecognised(`${operationKey}: the stored receipt isn't one for this posting`);
  }
  return receipt;
}

function unrecognised(message: string): ApplicationFailure {
  const type: FailureName = "UnrecognisedResult";
  return ApplicationFailure.nonRetryable(message, type);
}

/**
 * The posting for the stored invoice.
 *
 * @throws ApplicationFailure of type `PayloadMismatch` when the content isn't what was assessed
 */
export async function postingOf(payloads: PayloadStore, request: PostingRequest): Promise<InvoicePosting> {
  const invoice = await storedInvoice(payloads, request.payloadDigest);
  const amountMinor = invoice.totals.grossMinor;
  if (invoice.currency !== request.currency || amountMinor !== request.amountMinor) {
    throw mismatch(
      `${request.invoice.invoiceKey}: the stored invoice is over ${amountMinor} ${invoice.currency}, ` +
        `the assessment over ${request.amountMinor} ${request.currency}`,
    );
  }
  return {
    invoiceKey: request.invoice.invoiceKey,
    revision: request.invoice.revision,
    supplierId: invoice.supplier.vatId,
    invoiceNumber: invoice.number,
    currency: invoice.currency,
    amountMinor,
    payloadDigest: request.payloadDigest,
  };
}
