/**
 * The errors of `perform`. Each carries a name from the failure catalogue, so that a workflow, the API and an
 * operator see one word, and says in `retryable` whether the same call may simply be made again.
 */
import { failures, type FailureName } from "../../failures/catalogue.js";
import type { Fingerprint } from "./fingerprint.js";
import type { ParkReason, Refusal } from "./journal.js";
import type { JsonValue } from "./json.js";

export abstract class OperationError extends Error {
  abstract override readonly name: FailureName;
  constructor(
    readonly key: string,
    message: string,
  ) {
    super(message);
  }
  get retryable(): boolean {
    return failures[this.name].retryable;
  }
  /** What travels with the failure, apart from the message. Holds no request content. */
  abstract get details(): JsonValue;
}

/** The key is in use for another request; nothing was sent. */
export class OperationConflict extends OperationError {
  override readonly name = "OperationConflict";
  constructor(
    key: string,
    readonly stored: Fingerprint,
    readonly given: Fingerprint,
    reason = "the stored request has another fingerprint",
  ) {
    super(
      key,
      `${key}: ${reason}; stored ${describe(stored)}, given ${describe(given)}. Nothing was sent. ` +
        "Another request needs another key, or a repair after a refusal.",
    );
  }
  override get details(): JsonValue {
    return { key: this.key, stored: { ...this.stored }, given: { ...this.given } };
  }
}

/** The provider refused definitively: the effect didn't happen, and won't by this request. */
export class OperationRefused extends OperationError {
  override readonly name = "OperationRefused";
  constructor(
    key: string,
    readonly refusal: Refusal,
  ) {
    super(key, `${key}: refused with ${refusal.code}: ${refusal.detail}`);
  }
  override get details(): JsonValue {
    return { key: this.key, ...this.refusal };
  }
}

/** The provider took the operation on and later reported that it failed. */
export class OperationFailedAtProvider extends OperationError {
  override readonly name = "OperationFailedAtProvider";
  constructor(
    key: string,
    readonly failure: Refusal,
  ) {
    super(key, `${key}: failed at the provider with ${failure.code}: ${failure.detail}`);
  }
  override get details(): JsonValue {
    return { key: this.key, ...this.failure };
  }
}

/** The owner has a newer generation, and nothing was sent for this one. */
export class OperationFenced extends OperationError {
  override readonly name = "OperationFenced";
  constructor(
    key: string,
    readonly ownerId: string,
    readonly generation: number,
  ) {
    super(key, `${key}: generation ${generation} of ${ownerId} is fenced; nothing was sent.`);
  }
  override get details(): JsonValue {
    return { key: this.key, ownerId: this.ownerId, generation: this.generation };
  }
}

/** It can't be known by asking; a row in the recovery queue waits for an answer. */
export class OperationParked extends OperationError {
  override readonly name = "OperationParked";
  constructor(
    key: string,
    readonly reason: ParkReason,
  ) {
    super(key, `${key}: parked (${reason}); it waits for an answer in the recovery queue.`);
  }
  override get details(): JsonValue {
    return { key: this.key, reason: this.reason };
  }
}

/** The effect may or may not have happened. Call again: it is asked about before anything is sent. */
export class OutcomeUnknown extends OperationError {
  override readonly name = "OutcomeUnknown";
  constructor(
    key: string,
    readonly because: string,
    /** When calling again can tell more, in milliseconds from now; without it the caller's own back-off serves. */
    readonly retryAfterMs: number | undefined,
  ) {
    super(
      key,
      `${key}: outcome unknown (${because})${retryAfterMs === undefined ? "" : `; ask again in ${retryAfterMs} ms`}.`,
    );
  }
  override get details(): JsonValue {
    return { key: this.key, because: this.because, retryAfterMs: this.retryAfterMs ?? null };
  }
}

function describe(fingerprint: Fingerprint): string {
  return `${fingerprint.digest} (projection ${fingerprint.version})`;
}
