/** What goes into the invoice workflows, what comes out, and what may be said to them in between. */
import { defineQuery, defineSignal } from "@temporalio/workflow";
import type { Finding } from "../../activities/invoice-approval/assessment.js";
import type { InvoiceReference } from "../../activities/invoice-approval/steps.js";
import type { InvoicePolicy } from "./policy.js";

export interface InvoiceBatch {
  readonly batchId: string;
  readonly tenant: string;
  readonly invoices: readonly InvoiceReference[];
  readonly policy: InvoicePolicy;
  /** Set when somebody handed the batch in through the API and may ask the ledger how it stands. */
  readonly admission?: Admission;
}

export interface Admission {
  /** The row of the ledger's `requests` that the batch ends. */
  readonly requestId: string;
  /** Must not review what they handed in. */
  readonly submittedBy: string;
  /** Who is told of a review. */
  readonly reviewerMails: readonly string[];
}

export interface InvoiceJob {
  readonly batchId: string;
  readonly tenant: string;
  readonly invoice: InvoiceReference;
  readonly policy: InvoicePolicy;
  readonly admission?: Admission;
}

/** How an invoice can end. `failed-visibly` is a failed workflow; the batch turns it into a line of its result. */
export type InvoiceOutcome =
  | {
      readonly outcome: "posted";
      readonly invoiceKey: string;
      readonly revision: number;
      readonly entryReference: string;
      readonly payloadDigest: string;
      readonly currency: string;
      readonly amountMinor: number;
    }
  | {
      readonly outcome: "rejected";
      readonly invoiceKey: string;
      readonly findings: readonly Finding[];
      /** Who rejected it; absent when the rules did. */
      readonly rejectedBy?: string;
    }
  /** Nobody decided in time; nothing was posted. */
  | { readonly outcome: "expired"; readonly invoiceKey: string; readonly reviewId: string }
  | {
      readonly outcome: "duplicate";
      readonly invoiceKey: string;
      /** The processing, or the open workflow, that has the invoice. */
      readonly duplicateOf: string;
    };

export interface VisibleFailure {
  readonly outcome: "failed-visibly";
  readonly invoiceKey: string;
  /** A name of the failure catalogue, or what Temporal calls the end of the workflow. */
  readonly type: string;
  readonly message: string;
}

export interface InvoiceBatchResult {
  readonly batchId: string;
  /** One for each invoice, in the order of the batch. */
  readonly outcomes: readonly (InvoiceOutcome | VisibleFailure)[];
  readonly failures: number;
}

/** Where one invoice stands. `parked` waits for a person's answer about its posting. */
export type InvoiceState =
  | "extracting"
  | "validating"
  | "in-review"
  | "posting"
  | "parked"
  | "failed-visibly"
  | InvoiceOutcome["outcome"];

export const invoiceStateQuery = defineQuery<InvoiceState>("invoiceState");

/**
 * Hint: somebody answered the parked operation. It proves nothing and carries no answer; the process asks the
 * journal. A wrong key is ignored and logged; the sender gets no error.
 */
export const operationAnswered = defineSignal<[OperationAnsweredHint]>("operationAnswered");

/**
 * Hint: the review has ended. It proves nothing and carries no decision; the process asks the ledger. A wrong ticket
 * is ignored and recorded; the sender gets no error. The ledger's outbox sends it under this name.
 */
export const ticketClosed = defineSignal<[TicketClosedHint]>("ticketClosed");

export interface TicketClosedHint {
  readonly ticketId: string;
}

export interface OperationAnsweredHint {
  readonly operationKey: string;
}
