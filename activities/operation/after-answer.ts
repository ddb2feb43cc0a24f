/**
 * What to record for a provider's answer to a send: one pure function over the closed set of answers.
 *
 * The three meanings of "409" arrive here apart: `inProgress` (wait), `exists` (ask and compare) and `conflict` (the
 * key was used for another request: a person).
 */
import type { EffectOutcome, ParkReason, Refusal } from "./journal.js";
import type { JsonValue } from "./json.js";
import type { Answer } from "./provider.js";

export type ToRecord<Receipt extends JsonValue> =
  | { readonly record: "receipt"; readonly receipt: Receipt; readonly outcome: EffectOutcome }
  | { readonly record: "accepted"; readonly operationUrl: string; readonly pollAfterMs: number }
  | { readonly record: "refused"; readonly refusal: Refusal }
  | { readonly record: "unknown"; readonly cause: string; readonly retryAfterMs?: number }
  | { readonly record: "parked"; readonly reason: ParkReason; readonly evidence: JsonValue }
  /** Nothing yet: ask the provider what is there. */
  | { readonly record: "after-asking"; readonly detail: string };

/** @param sameEffect the provider's comparison, already given the request. */
export function afterAnswer<Receipt extends JsonValue>(
  answer: Answer<Receipt>,
  sameEffect: (receipt: Receipt) => boolean,
): ToRecord<Receipt> {
  switch (answer.outcome) {
    case "done":
      return afterReceipt(answer.receipt, sameEffect);
    case "superseded":
      // What is there is newer than the request, so it isn't compared with it.
      return { record: "receipt", receipt: answer.receipt, outcome: "superseded" };
    case "accepted":
      return { record: "accepted", operationUrl: answer.operationUrl, pollAfterMs: answer.pollAfterMs };
    case "refused":
      return { record: "refused", refusal: { code: answer.code, detail: answer.detail } };
    case "inProgress":
      return { record: "unknown", cause: "in progress at the provider", retryAfterMs: answer.retryAfterMs };
    case "exists":
      return { record: "after-asking", detail: answer.detail };
    case "conflict":
      return {
        record: "parked",
        reason: "key-used-for-another-request",
        evidence: { said: answer.detail },
      };
    case "unknown":
      return {
        record: "unknown",
        cause: answer.cause,
        ...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
      };
  }
}

/** What is there is adopted when it carries the content that was asked for, and shown to a person when it doesn't. */
export function afterReceipt<Receipt extends JsonValue>(
  receipt: Receipt,
  sameEffect: (receipt: Receipt) => boolean,
): Extract<ToRecord<Receipt>, { record: "receipt" | "parked" }> {
  return sameEffect(receipt)
    ? { record: "receipt", receipt, outcome: "done" }
    : { record: "parked", reason: "other-effect-present", evidence: { present: receipt } };
}
