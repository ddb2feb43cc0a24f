/** What goes into and comes out of the activities: small, since all of it is kept in workflow history. */
import type { JsonValue } from "../operation/json.js";

/** Which invoice, as it was admitted. */
export type InvoiceReference = {
  /** What the business calls the invoice; unique across tenants, and part of operation keys. */
  readonly invoiceKey: string;
  /** The file, which never changes under its id. */
  readonly documentId: string;
  /** 1 for the first submission, raised by each correction. */
  readonly revision: number;
};

/** One run of the process over one invoice of one batch. */
export type ProcessingIdentity = {
  readonly processingId: string;
  readonly tenant: string;
};

export type Extraction = {
  /** SHA-256 of the stored `ExtractedInvoice`. */
  readonly payloadDigest: string;
};

export type ReviewRequest = ProcessingIdentity & {
  readonly reviewId: string;
  readonly invoice: InvoiceReference;
  /** What is to be decided on, and what it was seen to amount to. */
  readonly payloadDigest: string;
  readonly currency: string;
  readonly amountMinor: number;
  readonly approvalsNeeded: number;
  /** ISO 8601. Taken only when the review is new. */
  readonly deadlineAt: string;
  /** Who waits, and gets the hint. */
  readonly workflowId: string;
  /** Must not decide. */
  readonly excluded: readonly string[];
  readonly mailTo: readonly string[];
};

export type OpenedReview = {
  /** ISO 8601. The stored one, which is what counts; after a reset it is earlier than the one asked for. */
  readonly deadlineAt: string;
};

export type ReviewEnd =
  | { readonly state: "approved"; readonly payloadDigest: string }
  | { readonly state: "rejected"; readonly by: string }
  | { readonly state: "expired" }
  /** By the ledger's clock there is still time, and nobody has decided. */
  | { readonly state: "open"; readonly remainingMs: number };

/** A hint that named nothing of ours. */
export type IgnoredHint = {
  readonly processingId: string;
  readonly signal: string;
  /** What came, as JSON text: it may be anything. */
  readonly content: string;
};

/** What starts a process under the id that it had before. */
export type ProcessStart = {
  readonly workflowId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly args: readonly JsonValue[];
  readonly workflowTaskTimeoutMs: number;
  readonly searchAttributes: Readonly<Record<string, string>>;
};

export type BatchProgress = {
  readonly requestId: string;
  readonly state: "running" | "completed";
  /** With `completed`: how each invoice ended. */
  readonly result?: JsonValue;
};

export type PostingRequest = {
  /** `invoice:<key>:post`, made in the workflow. */
  readonly operationKey: string;
  readonly invoice: InvoiceReference;
  /** The assessed or approved content, and what it was seen to amount to. */
  readonly payloadDigest: string;
  readonly currency: string;
  readonly amountMinor: number;
};
