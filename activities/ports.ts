/**
 * What activities need from outside, in their own words. Adapters implement these; no activity knows HTTP or SQL.
 * Amounts are integers in minor units (cents) of `currency`.
 */
import type { EffectProvider } from "./operation/provider.js";

/** A posting as accounting is asked for it. `invoiceKey` is our own reference, by which it can be found again. */
export type InvoicePosting = {
  readonly invoiceKey: string;
  readonly revision: number;
  readonly supplierId: string;
  readonly invoiceNumber: string;
  readonly currency: string;
  readonly amountMinor: number;
  /** Digest of the stored, approved payload: what is posted is that content and no second extraction. */
  readonly payloadDigest: string;
};

/** What accounting gives back: proof that this content was posted. */
export type PostingReceipt = {
  readonly entryReference: string;
  readonly invoiceKey: string;
  readonly revision: number;
  readonly currency: string;
  readonly amountMinor: number;
  readonly payloadDigest: string;
};

export type Accounting = EffectProvider<InvoicePosting, PostingReceipt>;

/** A mail to one person. `reference` is our own: who is told of what, in which round. */
export type MailMessage = {
  readonly reference: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
};

/** What the mail system gives back: proof that it took this message on. The text only as a digest. */
export type MailReceipt = {
  readonly messageReference: string;
  readonly reference: string;
  readonly to: string;
  readonly subject: string;
  /** SHA-256 of the text in UTF-8, in lower-case hex. */
  readonly textSha256: string;
};

export type Mail = EffectProvider<MailMessage, MailReceipt>;

/** The store the invoice files are read from. */
export interface DocumentStore {
  /**
   * @throws `UnknownDocument` (see `failures/catalogue.ts`) when there is no such document.
   */
  fetch(documentId: string, signal: AbortSignal): Promise<StoredDocument>;
}

export interface StoredDocument {
  readonly documentId: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Immutable content by digest: the same value gives the same digest, and what is stored never changes. */
export interface PayloadStore {
  /** @returns SHA-256 of the value's canonical JSON (RFC 8785), in lower-case hex. */
  put(kind: string, value: unknown): Promise<string>;
  /** @throws when nothing is stored under the digest. */
  get(digest: string): Promise<unknown>;
}
