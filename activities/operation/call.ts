/** What is asked of `perform`, and what it gives back. */
import type { BusinessProjection } from "./fingerprint.js";
import type { AcceptedOperation, EffectOutcome, OperationJournal, Owner } from "./journal.js";
import type { JsonValue } from "./json.js";
import type { EffectProvider } from "./provider.js";

export interface PerformCall<Request extends JsonValue, Receipt extends JsonValue> {
  readonly journal: OperationJournal;
  readonly provider: EffectProvider<Request, Receipt>;
  /** See `keys.ts`; built in the workflow from its input. */
  readonly key: string;
  readonly request: Request;
  /** Which part of the request makes it the same request. */
  readonly projection: BusinessProjection<Request>;
  /**
   * How often the caller has repaired something after a refusal, as the workflow counts it; default 0. Raised, it
   * allows one new try after a refusal, which may carry corrected content. Without it a repeated call after a refusal
   * gives the refusal again and sends nothing: a retry of the activity isn't a repair.
   */
  readonly repair?: number;
  /** Whose generation the submission depends on; default nobody's. */
  readonly owner?: Owner;
}

export type Performed<Receipt extends JsonValue> =
  /** `superseded`: the destination holds something newer, so ours wasn't needed; its receipt is that of the newer. */
  | { readonly outcome: EffectOutcome; readonly receipt: Receipt }
  /** A long-running operation: ask about it, then `finishAccepted`. */
  | ({ readonly outcome: "accepted" } & AcceptedOperation);

/** Where one step forward led. */
export type Step<Receipt extends JsonValue> =
  | { readonly step: "end"; readonly performed: Performed<Receipt> }
  /** Look again after `ms` milliseconds; `undefined`: by the caller's own back-off. */
  | { readonly step: "wait"; readonly ms: number | undefined; readonly because: string };

/**
 * How long an entrant that was overtaken waits before it reads again, in milliseconds. Its rival is a few statements
 * and one call ahead; too short is only a few reads more.
 */
const overtakenWaitMs = 100;

export const overtaken = {
  step: "wait",
  ms: overtakenWaitMs,
  because: "another entrant has taken over",
} as const satisfies Step<never>;
