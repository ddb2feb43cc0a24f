/** What this case needs from outside beside `activities/ports.ts`. */
import type { KnownSupplier } from "./assessment.js";
import type { BatchProgress, IgnoredHint, ProcessStart, ReviewRequest } from "./steps.js";

export interface SupplierDirectory {
  find(vatId: string): Promise<KnownSupplier | undefined>;
}

/**
 * Which stored payload a name stands for. The first binding stays: of two extractions at once, the second adopts
 * what the first one saved, so everybody goes on with the same content.
 */
export interface PayloadNames {
  lookUp(name: string): Promise<string | undefined>;
  /** @returns the digest that the name stands for now, which is the first one that was bound. */
  bind(name: string, digest: string): Promise<string>;
}

/**
 * Who holds an invoice. One processing at a time, for as long as it is open, and for ever once it has posted:
 * unique per invoice key and per supplier and number.
 */
export interface InvoiceRegister {
  claim(claim: InvoiceClaim): Promise<ClaimResult>;
  /** Gives up what this processing holds, if it does; again and again gives the same. */
  release(processingId: string): Promise<void>;
}

export type InvoiceClaim = {
  readonly processingId: string;
  readonly invoiceKey: string;
  readonly tenant: string;
  readonly supplierId: string;
  readonly invoiceNumber: string;
};

export type ClaimResult =
  { readonly held: "by-us" } | { readonly held: "by-other"; readonly processingId: string };

/** What needs a person. */
export interface RecoveryQueue {
  /** Insert-if-absent by `subject`: a retry adds nothing. */
  report(entry: RecoveryEntry): Promise<void>;
}

export type RecoveryEntry = {
  /** The business id that is stuck: `invoice:<key>`. */
  readonly subject: string;
  readonly reason: string;
  readonly detail: string;
  /** How the process is started again, should a person decide so. */
  readonly restart?: ProcessStart;
};

/** Where people decide. The desk alone judges who decided in time. */
export interface ReviewDesk {
  /** Insert-if-absent by the review's id, together with the mails that tell of it. */
  open(review: ReviewRequest & { readonly fingerprint: string }): Promise<ReviewOpening>;
  /** Ends an open review whose deadline has passed; final states stay. */
  resolve(reviewId: string): Promise<ReviewStanding>;
  /** Ends an open review that nobody waits for any more; one that isn't there, or has ended, stays as it is. */
  withdraw(reviewId: string): Promise<void>;
}

export type ReviewOpening =
  | { readonly outcome: "opened"; readonly deadlineAt: Date }
  /** The id stands for another content to be decided on. */
  | { readonly outcome: "conflict"; readonly detail: string };

export type ReviewStanding =
  | {
      readonly outcome: "ended";
      readonly state: string;
      readonly fingerprint: string;
      readonly payloadDigest: string;
      readonly votes: readonly { readonly voter: string; readonly decision: string }[];
    }
  | { readonly outcome: "not-yet"; readonly remainingMs: number }
  | { readonly outcome: "unknown" };

/** Keeps what was said to a process and ignored; the same again adds nothing. */
export interface IgnoredHints {
  record(hint: IgnoredHint): Promise<void>;
}

/** The admitted requests, whose truth outlives Temporal's retention. */
export interface RequestBook {
  /** Compare-and-set; a request that isn't there, or has ended, stays as it is. */
  move(progress: BatchProgress): Promise<void>;
}
