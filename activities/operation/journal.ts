/**
 * The operations journal as `perform` sees it. The ledger implements it with one statement for each verb.
 *
 * Each verb changes nothing when its guard doesn't hold, and says so with a *named result* instead of an error:
 * `stale` means "somebody else has gone on; read again". Each verb may be repeated with the same arguments and gives
 * the same result, so that a lost answer of the database costs a repetition and nothing else.
 *
 * All times are the ledger's own clock, in milliseconds since 1970.
 */
import type { Fingerprint } from "./fingerprint.js";
import type { JsonValue } from "./json.js";
import type { OperationState } from "./states.js";

/** Whose current version a submission depends on: a tenant's provisioning, a document. */
export interface Owner {
  readonly id: string;
  readonly generation: number;
}

/** Who writes. `attempt` and `worker` are for people who read the events; no guard ever looks at them. */
export interface Entrant {
  readonly attempt: number;
  readonly worker: string;
}

/** An entrant that took over an operation at this epoch. */
export interface Claim extends Entrant {
  readonly key: string;
  readonly epoch: number;
}

/** Why a try was opened: the first one, after a repair, because an effect was proved absent, or by an answer. */
export type TryReason = "first" | "repair" | "proved-absent" | "answer";

export interface OperationTry {
  readonly number: number;
  /** The idempotency key that this try is sent under. */
  readonly providerKey: string;
  readonly fingerprint: Fingerprint;
  /** How often the caller had repaired the request when it opened this try. */
  readonly repair: number;
  readonly openedFor: TryReason;
  /** When the provider can have seen the key first; `null` while never sent. */
  readonly firstSubmittedAt: number | null;
}

export type EffectOutcome = "done" | "superseded";

export interface OperationSnapshot {
  readonly key: string;
  readonly state: OperationState;
  readonly epoch: number;
  readonly try: OperationTry;
  /** The last send of the current try, and the epoch it was made under; `null` while never sent. */
  readonly submitted: { readonly at: number; readonly epoch: number } | null;
  /** Since when the outcome has been open, counted anew by an answer; `null` while never sent. */
  readonly uncertainSince: number | null;
  readonly owner: Owner | null;
  readonly receipt: JsonValue | null;
  readonly outcome: EffectOutcome | null;
  readonly accepted: AcceptedOperation | null;
  readonly refusal: Refusal | null;
  readonly parkedFor: ParkReason | null;
  /** The ledger's clock when this was read. */
  readonly now: number;
}

export interface AcceptedOperation {
  readonly operationUrl: string;
  readonly pollAfterMs: number;
}

/** A refusal by the provider, or its report that a long-running operation failed. */
export interface Refusal {
  readonly code: string;
  readonly detail: string;
}

/**
 * Why an operation is parked. The first group is *not knowing*: a receipt that arrives later is the answer. The
 * second is *contradiction*: a receipt is kept as evidence, but only a person can say what it means.
 */
export const parkReasons = {
  "cannot-be-asked": "not-knowing",
  "earlier-sender-not-proved-ended": "not-knowing",
  "no-outcome-in-time": "not-knowing",
  "owner-fenced": "not-knowing",
  "other-effect-present": "contradiction",
  "other-receipt": "contradiction",
  "key-used-for-another-request": "contradiction",
} as const;

export type ParkReason = keyof typeof parkReasons;

/** The reasons that a later receipt answers by itself. */
export const reasonsAReceiptAnswers = (Object.keys(parkReasons) as ParkReason[]).filter(
  (reason) => parkReasons[reason] === "not-knowing",
);

export interface Stale {
  readonly result: "stale";
}

export interface TakeOver extends Entrant {
  readonly key: string;
  /** What the entrant has read, and what its decision rests on. */
  readonly seen: Pick<OperationSnapshot, "epoch" | "state" | "submitted">;
}

export interface Intention extends Entrant {
  readonly key: string;
  /** Name of the provider, for people who read the row. */
  readonly provider: string;
  readonly fingerprint: Fingerprint;
  readonly repair: number;
  readonly owner: Owner | null;
  /**
   * Also make the first submission, in the same statement and under the same guards, when the key is new. Saves one
   * commit before the send, and gives up the state that proves that nothing was sent; so only for a provider where
   * sending the same again costs nothing.
   */
  readonly andSubmit: boolean;
}

export interface Receipt {
  readonly key: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly worker: string;
  /** The try whose sending or finding gave the receipt. */
  readonly tryNumber: number;
  readonly receipt: JsonValue;
  readonly outcome: EffectOutcome;
}

/** What a receipt made of its operation, with what is stored: the first receipt, which need not be the given one. */
export interface Confirmed {
  readonly result: "confirmed" | "parked";
  readonly operation: Pick<OperationSnapshot, "receipt" | "outcome" | "parkedFor">;
}

export interface Parking extends Claim {
  readonly reason: ParkReason;
  /** What a person needs to answer: what was asked, found, and said. */
  readonly evidence: JsonValue;
}

export interface NextTry extends Claim {
  /** The try that ended without an effect; the new one is the next number. */
  readonly endedTry: number;
  readonly fingerprint: Fingerprint;
  readonly repair: number;
  readonly openedFor: "repair" | "proved-absent";
  readonly why: string;
}

/**
 * What a person, or a reconciler, may answer to a parked operation:
 * `adopt`: the effect is there, and this is its receipt.
 * `absent`: it is proved that the effect isn't there and can't come any more; the next try has its own key.
 * `redrive`: nothing new is known, but the reason has gone (a provider is back): ask again by the same rules.
 */
export type ParkAnswer =
  | { readonly answer: "adopt"; readonly receipt: JsonValue }
  | { readonly answer: "absent" }
  | { readonly answer: "redrive" };

export interface AnswerToParked {
  /** The row of the recovery queue. Not the key: what is parked may have been answered and parked anew since. */
  readonly recoveryId: number;
  /** Chosen by the one who answers; sending the same answer again under it changes nothing. */
  readonly answerId: string;
  readonly by: string;
  readonly answer: ParkAnswer;
}

export type AnswerResult =
  | { readonly result: "answered"; readonly key: string; readonly state: OperationState }
  /** Somebody else's answer, or this id with another content, was there first. */
  | { readonly result: "answered-before"; readonly by: string; readonly answerId: string }
  | { readonly result: "not-parked" }
  /** The answer would lose what is known; nothing has changed, and the question stays open. */
  | { readonly result: "not-possible"; readonly why: string };

/**
 * Why `redrive` is no answer where an earlier try's receipt is stored and the current try was never sent: going on would
 * send that try beside an effect that is known.
 */
export const redriveBesideAReceipt =
  "an earlier try's receipt is stored and the current try was never sent, so trying again would make a second effect: " +
  "adopt the receipt, or say that its effect is absent";

export interface OperationJournal {
  read(key: string): Promise<OperationSnapshot | null>;
  /**
   * Inserts the operation with its first try, or reads what is there; never changes what is there. With `andSubmit` a
   * fresh operation comes back as `submitting`, or as `intended` when its owner's generation doesn't allow it.
   */
  intend(intention: Intention): Promise<{ readonly fresh: boolean; readonly operation: OperationSnapshot }>;
  /**
   * Raises the epoch by one, if the operation still is as it was seen: the same epoch, state and last submission. The
   * epoch alone isn't enough: its holder goes on from `intended` to `submitting` without raising it.
   */
  takeOver(
    takeOver: TakeOver,
  ): Promise<{ readonly result: "taken"; readonly operation: OperationSnapshot } | Stale>;
  /** Written before every send. */
  submit(
    claim: Claim & { readonly owner: Owner | null },
  ): Promise<
    | { readonly result: "submitting"; readonly operation: OperationSnapshot }
    | { readonly result: "fenced" }
    | Stale
  >;
  /** Stores a receipt; the result is what the operation is *now*. */
  confirm(receipt: Receipt): Promise<Confirmed>;
  accept(
    accepted: Claim & { readonly tryNumber: number } & AcceptedOperation,
  ): Promise<{ readonly result: "accepted" } | Stale>;
  failAtProvider(
    failed: Entrant & { readonly key: string; readonly operationUrl: string } & Refusal,
  ): Promise<{ readonly result: "failed-at-provider" } | Stale>;
  markUnknown(claim: Claim & { readonly cause: string }): Promise<{ readonly result: "unknown" } | Stale>;
  refuse(claim: Claim & Refusal): Promise<{ readonly result: "refused" } | Stale>;
  park(parking: Parking): Promise<{ readonly result: "parked" } | Stale>;
  nextTry(
    next: NextTry,
  ): Promise<{ readonly result: "intended"; readonly operation: OperationSnapshot } | Stale>;
  answer(answer: AnswerToParked): Promise<AnswerResult>;
}
