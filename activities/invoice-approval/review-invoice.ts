/** The review of one invoice: open it, and ask how it ended. */
import { ApplicationFailure } from "@temporalio/common";
import type { FailureName } from "../../failures/catalogue.js";
import { fingerprintOf, type BusinessProjection } from "../operation/fingerprint.js";
import type { PayloadStore } from "../ports.js";
import type { ReviewDesk } from "./ports.js";
import type { OpenedReview, ReviewEnd, ReviewRequest } from "./steps.js";
import { mismatch, storedInvoice } from "./stored-invoice.js";

export interface ReviewDependencies {
  readonly payloads: PayloadStore;
  readonly reviews: ReviewDesk;
}

/** What a decision is bound to: this review, of this revision, with this amount and content. */
export const reviewProjection: BusinessProjection<ReviewRequest> = {
  version: 1,
  of: (review) => ({
    processingId: review.processingId,
    reviewId: review.reviewId,
    invoiceKey: review.invoice.invoiceKey,
    revision: review.invoice.revision,
    currency: review.currency,
    amountMinor: review.amountMinor,
    payloadDigest: review.payloadDigest,
  }),
};

/**
 * Opens the review of the stored invoice behind the digest, and writes the mails that tell of it.
 *
 * Crash before the commit: nothing was opened and nobody is told.
 * Crash during it: review and mails are one transaction, there or not there.
 * Crash after it: the next attempt finds the review, with the deadline that it was opened with.
 * Another content under the same review id is a conflict, and nothing is opened.
 */
export function createOpenReview({ payloads, reviews }: ReviewDependencies) {
  return async function openReview(request: ReviewRequest): Promise<OpenedReview> {
    const invoice = await storedInvoice(payloads, request.payloadDigest);
    if (invoice.currency !== request.currency || invoice.totals.grossMinor !== request.amountMinor) {
      throw mismatch(
        `${request.reviewId}: the stored invoice is over ${invoice.totals.grossMinor} ${invoice.currency}, ` +
          `the assessment over ${request.amountMinor} ${request.currency}`,
      );
    }
    const fingerprint = fingerprintOf(request, reviewProjection).digest;
    const opening = await reviews.open({ ...request, fingerprint });
    if (opening.outcome === "conflict") {
      throw failure("OperationConflict", `${request.reviewId}: ${opening.detail}`);
    }
    return { deadlineAt: opening.deadlineAt.toISOString() };
  };
}

/**
 * How the review ended. An approval counts only for what the process would post.
 *
 * Crash before, during or after: the review's end is one compare-and-set in the ledger, and asking again gives it again.
 *
 * @throws ApplicationFailure `PayloadMismatch` when another content was approved, `ReviewWithdrawn` when an
 *   earlier run gave the review up, `UnrecognisedResult` for a review that isn't there or an end that isn't known
 */
export function createResolveReview({ reviews }: ReviewDependencies) {
  return async function resolveReview(request: ReviewRequest): Promise<ReviewEnd> {
    const standing = await reviews.resolve(request.reviewId);
    if (standing.outcome === "not-yet") return { state: "open", remainingMs: standing.remainingMs };
    if (standing.outcome === "unknown") {
      throw failure("UnrecognisedResult", `${request.reviewId} was opened and isn't there`);
    }
    const { state, fingerprint, payloadDigest, votes } = standing;
    switch (state) {
      case "approved":
        if (fingerprint !== fingerprintOf(request, reviewProjection).digest) {
          throw mismatch(
            `${request.reviewId} was approved for the fingerprint ${fingerprint}, which isn't ours`,
          );
        }
        return { state, payloadDigest };
      case "rejected":
        return { state, by: votes.find(({ decision }) => decision === "reject")?.voter ?? "unknown" };
      case "expired":
        return { state };
      case "withdrawn":
        throw failure("ReviewWithdrawn", `${request.reviewId} was withdrawn; hand the invoice in again`);
      default:
        throw failure("UnrecognisedResult", `${request.reviewId} ended as ${JSON.stringify(state)}`);
    }
  };
}

function failure(type: FailureName, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type);
}
