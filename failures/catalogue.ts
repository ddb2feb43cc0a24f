/**
 * The one catalogue of failures. A workflow failure carries one of these names as its `type`, and the API turns
 * the same name into a problem type (RFC 9457), so what a caller reads, what Temporal's history shows and what
 * an operator searches for is one word.
 *
 * Pure data: every layer may import it, also workflow code.
 */
export interface FailureKind {
  /** May the same call be tried again without a person changing something first? */
  readonly retryable: boolean;
  /** Status when a caller of the HTTP API meets it. */
  readonly httpStatus: number;
  /** One sentence: what it means. */
  readonly meaning: string;
  /** `"api"`: only callers of the API meet it; no workflow and no activity fails with it. Default: any process. */
  readonly metBy?: "api";
}

export const failures = {
  OperationConflict: {
    retryable: false,
    httpStatus: 409,
    meaning: "The operation key is already in use for a request with another fingerprint; nothing was sent.",
  },
  OperationRefused: {
    retryable: false,
    httpStatus: 422,
    meaning: "The outside system refused definitively, so the effect provably did not happen.",
  },
  OperationParked: {
    retryable: false,
    httpStatus: 409,
    meaning: "Whether the effect happened can't be known by asking; a person has to answer.",
  },
  OperationFenced: {
    retryable: false,
    httpStatus: 409,
    meaning: "The operation's owner has a newer generation or was fenced; nothing was sent.",
  },
  OperationFailedAtProvider: {
    retryable: false,
    httpStatus: 502,
    meaning: "The outside system took the operation on and reported later that it failed.",
  },
  OutcomeUnknown: {
    retryable: true,
    httpStatus: 503,
    meaning: "The effect may or may not have happened; it is asked about before anything is sent again.",
  },
  InvalidDocument: {
    retryable: false,
    httpStatus: 422,
    meaning: "The document can't be read as an invoice.",
  },
  UnknownDocument: {
    retryable: false,
    httpStatus: 404,
    meaning: "The document store has no such document.",
  },
  DocumentStoreUnavailable: {
    retryable: true,
    httpStatus: 503,
    meaning:
      "The document store did not answer in its own words, so whether it has the document isn't known.",
  },
  InvalidRequest: {
    retryable: false,
    httpStatus: 400,
    meaning: "The request breaks its schema.",
  },
  UnrecognisedResult: {
    retryable: false,
    httpStatus: 500,
    meaning: "A step gave a value that the process doesn't know; nothing was done with it.",
  },
  PayloadMismatch: {
    retryable: false,
    httpStatus: 500,
    meaning: "Stored content isn't what was assessed or approved under its digest; nothing was sent.",
  },
  PayloadTooLarge: {
    retryable: false,
    httpStatus: 413,
    meaning: "The content is larger than the ledger keeps; it was not stored.",
  },
  NotStorable: {
    retryable: false,
    httpStatus: 422,
    meaning: "The content isn't JSON that the ledger can keep exactly; it was not stored.",
  },
  UnknownPayload: {
    retryable: false,
    httpStatus: 500,
    meaning: "No content is stored under the digest that a process was given.",
  },
  DamagedPayload: {
    retryable: false,
    httpStatus: 500,
    meaning: "Stored content isn't what its digest says; the ledger was changed from outside.",
  },
  ReviewNotAvailable: {
    retryable: false,
    httpStatus: 501,
    meaning: "The invoice needs a person's review and this deployment has none; nothing was posted.",
  },
  ReviewWithdrawn: {
    retryable: false,
    httpStatus: 409,
    meaning: "The review was withdrawn when its process was cancelled or ended; nothing was posted.",
  },
  InvoiceNotBegun: {
    retryable: false,
    httpStatus: 409,
    meaning: "The batch ended before the invoice's process began; nothing was done for the invoice.",
  },
  StepGaveUp: {
    retryable: false,
    httpStatus: 503,
    meaning: "A step without an effect outside kept failing until its time was up; a person has to look.",
  },
  Unauthenticated: {
    retryable: false,
    httpStatus: 401,
    meaning: "The request carries no API key, or one that belongs to nobody.",
    metBy: "api",
  },
  NotAllowed: {
    retryable: false,
    httpStatus: 403,
    meaning: "The caller is known and may not do this.",
    metBy: "api",
  },
  UnknownRoute: {
    retryable: false,
    httpStatus: 404,
    meaning: "The API has no such route.",
    metBy: "api",
  },
  UnknownInvoiceBatch: {
    retryable: false,
    httpStatus: 404,
    meaning: "No invoice batch was admitted under this id.",
    metBy: "api",
  },
  UnknownReview: {
    retryable: false,
    httpStatus: 404,
    meaning: "No review was opened under this id.",
    metBy: "api",
  },
  BodyTooLarge: {
    retryable: false,
    httpStatus: 413,
    meaning: "The request's body is larger than the API reads.",
    metBy: "api",
  },
  HeadersTooLarge: {
    retryable: false,
    httpStatus: 431,
    meaning: "The request's line and headers are longer than the API reads.",
    metBy: "api",
  },
  RequestTooSlow: {
    retryable: true,
    httpStatus: 408,
    meaning: "The request did not arrive in time; nothing of it was done.",
    metBy: "api",
  },
  UnsupportedMediaType: {
    retryable: false,
    httpStatus: 415,
    meaning: "The request's body isn't JSON.",
    metBy: "api",
  },
  IdempotencyKeyReused: {
    retryable: false,
    httpStatus: 409,
    meaning: "The caller used this idempotency key before, with another body; nothing was admitted.",
    metBy: "api",
  },
  TooManyOpenBatches: {
    retryable: true,
    httpStatus: 429,
    meaning: "The tenant has as many open batches as it may have; nothing was admitted.",
    metBy: "api",
  },
  ReviewExpired: {
    retryable: false,
    httpStatus: 409,
    meaning: "The review's deadline has passed; the decision doesn't count.",
    metBy: "api",
  },
  ReviewClosed: {
    retryable: false,
    httpStatus: 409,
    meaning: "The review had ended before; the decision doesn't count.",
    metBy: "api",
  },
  ReviewMismatch: {
    retryable: false,
    httpStatus: 409,
    meaning: "The decision is about another revision or other content than the review; it doesn't count.",
    metBy: "api",
  },
  AlreadyDecided: {
    retryable: false,
    httpStatus: 409,
    meaning: "The caller has decided on this review before, and nobody counts twice.",
    metBy: "api",
  },
  DecisionIdReused: {
    retryable: false,
    httpStatus: 409,
    meaning: "The decision id stands for another decision on this review; nothing was stored.",
    metBy: "api",
  },
  LedgerUnavailable: {
    retryable: true,
    httpStatus: 503,
    meaning: "The ledger could not be used; the same request under the same key may be sent again.",
    metBy: "api",
  },
  UnexpectedFailure: {
    retryable: true,
    httpStatus: 500,
    meaning:
      "The API failed in a way that it doesn't know; the same request under the same key may be sent again.",
    metBy: "api",
  },
} as const satisfies Record<string, FailureKind>;

export type FailureName = keyof typeof failures;

/** The names that no retry policy may retry, for `nonRetryableErrorTypes`; it is kept in every activity's history. */
export const nonRetryableFailures: readonly FailureName[] = (Object.keys(failures) as FailureName[]).filter(
  (name) => {
    const kind: FailureKind = failures[name];
    return !kind.retryable && kind.metBy === undefined;
  },
);
