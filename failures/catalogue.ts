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
  StepGaveUp: {
    retryable: false,
    httpStatus: 503,
    meaning: "A step without an effect outside kept failing until its time was up; a person has to look.",
  },
} as const satisfies Record<string, FailureKind>;

export type FailureName = keyof typeof failures;

/** The names that no retry policy may retry, for `nonRetryableErrorTypes`. */
export const nonRetryableFailures: readonly FailureName[] = (Object.keys(failures) as FailureName[]).filter(
  (name) => !failures[name].retryable,
);
