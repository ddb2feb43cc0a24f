/** What goes into and comes out of the activities: small, since all of it is kept in workflow history. */

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

export type PostingRequest = {
  /** `invoice:<key>:post`, made in the workflow. */
  readonly operationKey: string;
  readonly invoice: InvoiceReference;
  /** The assessed or approved content, and what it was seen to amount to. */
  readonly payloadDigest: string;
  readonly currency: string;
  readonly amountMinor: number;
};
