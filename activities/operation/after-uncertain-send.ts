/**
 * What to do with an operation that may have been sent and whose outcome isn't known: one pure function, decided by
 * the provider's class.
 *
 * | honours keys | can be asked | decision |
 * | --- | --- | --- |
 * | yes, key still alive | – | the same key again |
 * | yes, may have expired | yes | find; absent after settling → next try |
 * | yes, may have expired | no | park |
 * | no | yes | settle, then find; absent → again only when the earlier sender is proved to have ended, else park |
 * | no | no | park |
 *
 * *Settling*: "absent" means "did not happen" only when `settleMs` have passed since the last moment in which a
 * request of ours can have been on its way.
 *
 * *Proved to have ended*: the sender was this process, and its call has settled. What this can't exclude is a
 * sender that was paused just before its write and belongs to a process that can't be asked: that is why the answer
 * is then to park.
 */
import type { ParkReason } from "./journal.js";
import type { ProviderPolicy } from "./provider.js";

/** What is known about the call that made the last send. */
export type EarlierSender =
  /** Another process, or an earlier life of this one: nothing is known. */
  | { readonly where: "elsewhere" }
  /** This process, and the call is still open. */
  | { readonly where: "here"; readonly call: "open" }
  /** This process, and the call has settled. */
  | { readonly where: "here"; readonly call: "settled"; readonly settledAgoMs: number };

/** Times in milliseconds on the ledger's clock. */
export interface UncertainSend {
  readonly policy: ProviderPolicy;
  /** When the provider can have seen this try's key first. */
  readonly firstSubmittedAt: number;
  /** The last send. */
  readonly submittedAt: number;
  /** Since when the outcome has been open. */
  readonly uncertainSince: number;
  /** Read *before* the provider was asked, so that an answer is never believed older than it is. */
  readonly now: number;
  readonly earlierSender: EarlierSender;
  /** What asking gave; absent while it was not asked. `present` isn't decided here: it is compared and adopted. */
  readonly found?: "absent" | "unknown";
}

export type Decision =
  | { readonly next: "find" }
  | { readonly next: "resubmit" }
  | { readonly next: "next-try" }
  | { readonly next: "wait"; readonly ms: number; readonly because: string }
  | { readonly next: "park"; readonly reason: ParkReason };

/**
 * A key counts as dead after half the time the provider promises: one believed dead too early costs a question, one
 * believed alive too long costs a double.
 */
const keyLifeTrusted = 0.5;

/** How soon a provider that couldn't be asked is asked again, in milliseconds, when it doesn't say. */
export const askAgainMs = 1_000;

export function afterUncertainSend(send: UncertainSend): Decision {
  const { policy } = send;
  if (policy.honoursKeys && keyIsAlive(policy, send.firstSubmittedAt, send.now)) {
    return { next: "resubmit" };
  }
  if (!policy.canFind) {
    return { next: "park", reason: "cannot-be-asked" };
  }
  if (send.found === undefined) {
    // A provider with keys may be asked at once: what is present is present. Without keys the first question waits,
    // since nothing but an answer after settling could lead anywhere.
    const ms = policy.honoursKeys ? 0 : settlesInMs(send);
    return ms > 0 ? waitOrPark(send, ms, "the last send has not settled") : { next: "find" };
  }
  if (send.found === "unknown") {
    return waitOrPark(send, askAgainMs, "the provider can't be asked");
  }
  return provedAbsent(send);
}

/** Asked and not there. */
function provedAbsent(send: UncertainSend): Decision {
  const ms = settlesInMs(send);
  if (ms > 0) {
    return waitOrPark(send, ms, "absent, but the last send has not settled");
  }
  if (send.policy.honoursKeys) {
    return { next: "next-try" };
  }
  return send.earlierSender.where === "here"
    ? { next: "resubmit" }
    : { next: "park", reason: "earlier-sender-not-proved-ended" };
}

/** Will the provider still take a second request under the key for the first one? */
export function keyIsAlive(policy: ProviderPolicy, firstSubmittedAt: number, now: number): boolean {
  return policy.keysLiveForMs === null || now - firstSubmittedAt < policy.keysLiveForMs * keyLifeTrusted;
}

/** In how many milliseconds "absent" will mean "did not happen"; 0 when it does. A call still open hasn't begun to settle. */
function settlesInMs({ policy, submittedAt, now, earlierSender }: UncertainSend): number {
  if (earlierSender.where === "here" && earlierSender.call === "open") {
    // It hasn't begun to settle, also where settling takes no time.
    return policy.settleMs > 0 ? policy.settleMs : askAgainMs;
  }
  const sinceSubmitted = now - submittedAt;
  const quietForMs =
    earlierSender.where === "elsewhere"
      ? sinceSubmitted
      : Math.min(sinceSubmitted, earlierSender.settledAgoMs);
  return Math.max(0, policy.settleMs - quietForMs);
}

/** Waiting has an end: past `parkAfterMs` a person is asked. */
function waitOrPark(send: UncertainSend, ms: number, because: string): Decision {
  return send.now - send.uncertainSince >= send.policy.parkAfterMs
    ? { next: "park", reason: "no-outcome-in-time" }
    : { next: "wait", ms, because };
}
