import type {
  ReviewDesk,
  ReviewOpening,
  ReviewStanding,
} from "../../../activities/invoice-approval/ports.js";
import type { Ledger } from "../database.js";
import { openTicket } from "../tickets/open-ticket.js";
import { resolveTicket } from "../tickets/resolve-ticket.js";
import { withdrawTicket } from "../tickets/withdraw-ticket.js";

/** The kind of the tickets that are reviews of invoices. */
export const invoiceReviewKind = "invoice-review";

/** The review desk on the ledger's tickets. Every call may be repeated at will. */
export function createReviewDesk(ledger: Ledger): ReviewDesk {
  return {
    open: (review) => openReview(ledger, review),
    resolve: (reviewId) => resolveReview(ledger, reviewId),
    withdraw: (reviewId) => withdrawReview(ledger, reviewId),
  };
}

/** SQL: see `openTicket`; ticket and mails are one transaction. */
async function openReview(ledger: Ledger, review: Parameters<ReviewDesk["open"]>[0]): Promise<ReviewOpening> {
  const { reviewId, invoice, approvalsNeeded, deadlineAt } = review;
  const opened = await ledger.transaction().execute((transaction) =>
    openTicket(transaction, {
      ticketId: reviewId,
      kind: invoiceReviewKind,
      tenant: review.tenant,
      subject: review.processingId,
      revision: invoice.revision,
      fingerprint: review.fingerprint,
      payloadDigest: review.payloadDigest,
      workflowId: review.workflowId,
      approvalsNeeded,
      excludedVoters: review.excluded,
      deadlineAt: new Date(deadlineAt),
      notify: review.mailTo.map((to) => ({ to, ...mailOf(review) })),
    }),
  );
  return opened.outcome === "conflict"
    ? {
        outcome: "conflict",
        detail: `its ${opened.field} is ${opened.stored}; it was to be opened with ${opened.offered}`,
      }
    : { outcome: "opened", deadlineAt: opened.deadlineAt };
}

/** SQL: see `resolveTicket`. */
async function resolveReview(ledger: Ledger, reviewId: string): Promise<ReviewStanding> {
  const resolved = await ledger.transaction().execute((transaction) => resolveTicket(transaction, reviewId));
  return resolved.outcome === "unknown-ticket" ? { outcome: "unknown" } : resolved;
}

/** SQL: see `withdrawTicket`. */
async function withdrawReview(ledger: Ledger, reviewId: string): Promise<void> {
  await ledger.transaction().execute((transaction) => withdrawTicket(transaction, reviewId));
}

function mailOf(review: Parameters<ReviewDesk["open"]>[0]) {
  const { invoice, amountMinor, currency, approvalsNeeded, deadlineAt, reviewId } = review;
  return {
    subject: `Invoice ${invoice.invoiceKey} waits for a review`,
    text: [
      `Invoice ${invoice.invoiceKey}, revision ${invoice.revision}, over ${amountMinor} ${currency} in minor units.`,
      `It needs ${approvalsNeeded} approval(s) until ${deadlineAt}. Nothing is posted before.`,
      `Review: ${reviewId}`,
    ].join("\n"),
  };
}
