/**
 * One step of `perform`: read what is known, and do the one thing that follows from it. Each state has one branch
 * here; what follows after a send is in `record.ts`.
 */
import { afterUncertainSend, type Decision } from "./after-uncertain-send.js";
import { afterReceipt } from "./after-answer.js";
import { isStillSendable } from "./before-send.js";
import { overtaken, type PerformCall, type Step } from "./call.js";
import type { Runtime } from "./context.js";
import {
  OperationConflict,
  OperationFailedAtProvider,
  OperationFenced,
  OperationParked,
  OperationRefused,
} from "./errors.js";
import { fingerprintOf, matchesFingerprint } from "./fingerprint.js";
import type { Claim, OperationSnapshot } from "./journal.js";
import type { JsonValue } from "./json.js";
import type { Found } from "./provider.js";
import { park, recordAnswer, recordWhatIs, storedResult } from "./record.js";
import { callBegins, earlierSender } from "./senders.js";
import { askOnce, sendOnce } from "./send.js";

export async function advance<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
): Promise<Step<Receipt>> {
  runtime.signal.throwIfAborted();
  const askedAt = runtime.now();
  const fingerprint = fingerprintOf(call.request, call.projection);
  const { fresh, operation } = await call.journal.intend({
    ...runtime.entrant,
    // With keys, a send that may have been made costs nothing but the same send again.
    andSubmit: call.provider.policy.honoursKeys,
    key: call.key,
    provider: call.provider.name,
    fingerprint,
    repair: call.repair ?? 0,
    owner: call.owner ?? null,
  });
  if (isRepair(call, operation)) {
    return openTry(call, runtime, operation, "repair", "repaired by the caller");
  }
  if (!matchesFingerprint(operation.try.fingerprint, call.request, call.projection, fingerprint)) {
    throw new OperationConflict(call.key, operation.try.fingerprint, fingerprint);
  }
  switch (operation.state) {
    case "confirmed":
    case "accepted":
      return { step: "end", performed: storedResult(operation) };
    case "refused":
      throw new OperationRefused(call.key, operation.refusal!);
    case "failed-at-provider":
      throw new OperationFailedAtProvider(call.key, operation.refusal!);
    case "parked":
      throw new OperationParked(call.key, operation.parkedFor!);
    case "intended":
      return fresh
        ? submitAndSend(call, runtime, operation)
        : afterTakeOver(call, runtime, operation, (taken) => submitAndSend(call, runtime, taken));
    case "submitting":
    case "unknown":
      return fresh ? send(call, runtime, operation, askedAt) : reconcile(call, runtime, operation);
  }
}

/**
 * May the caller's raised repair count open a new try? Only where the current try is proved to have had no effect:
 * the provider refused it, or a person's answer opened it and it was never sent.
 */
function isRepair<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  operation: OperationSnapshot,
): boolean {
  const provedWithoutEffect =
    operation.state === "refused" || (operation.state === "intended" && operation.try.openedFor === "answer");
  return provedWithoutEffect && (call.repair ?? 0) > operation.try.repair;
}

/** The operation may have been sent, and its outcome isn't known. */
async function reconcile<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
): Promise<Step<Receipt>> {
  const decision = decide(call, runtime, operation);
  if (decision.next !== "find") {
    return follow(call, runtime, operation, decision);
  }
  const found = await askOnce(call, runtime);
  if (found.found === "present") {
    // A fact, whoever finds it: no take-over is needed to store it.
    const toRecord = afterReceipt(found.receipt, (receipt) =>
      call.provider.sameEffect(call.request, receipt),
    );
    return toRecord.record === "receipt"
      ? recordWhatIs(call, runtime, operation, toRecord)
      : afterTakeOver(call, runtime, operation, (taken) =>
          park(call, runtime, taken, toRecord.reason, toRecord.evidence),
        );
  }
  const next = decide(call, runtime, operation, found);
  return follow(call, runtime, operation, honourRetryAfter(next, found));
}

function decide<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  found?: Exclude<Found<Receipt>, { found: "present" }>,
): Decision {
  const sent = sentAt(operation);
  return afterUncertainSend({
    policy: call.provider.policy,
    ...sent,
    uncertainSince: operation.uncertainSince ?? sent.submittedAt,
    now: operation.now,
    earlierSender: earlierSender(call.journal, operation, runtime.now),
    ...(found === undefined ? {} : { found: found.found }),
  });
}

function honourRetryAfter<Receipt extends JsonValue>(decision: Decision, found: Found<Receipt>): Decision {
  return decision.next === "wait" && found.found === "unknown" && found.retryAfterMs !== undefined
    ? { ...decision, ms: found.retryAfterMs }
    : decision;
}

async function follow<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  decision: Decision,
): Promise<Step<Receipt>> {
  switch (decision.next) {
    case "wait":
      // No take-over only to wait: it would make a rival that gets an answer meanwhile look overtaken.
      return { step: "wait", ms: decision.ms, because: decision.because };
    case "resubmit":
      return afterTakeOver(call, runtime, operation, (taken) => submitAndSend(call, runtime, taken));
    case "next-try":
      if (operation.try.number >= provedAbsentTriesMax && operation.try.openedFor === "proved-absent") {
        return afterTakeOver(call, runtime, operation, (taken) =>
          park(call, runtime, taken, "no-outcome-in-time", { triesWithoutEffect: taken.try.number }),
        );
      }
      return openTry(
        call,
        runtime,
        operation,
        "proved-absent",
        "the provider doesn't have it after settling",
      );
    case "park":
      return afterTakeOver(call, runtime, operation, (taken) =>
        park(call, runtime, taken, decision.reason, { lastSubmittedAt: taken.submitted?.at ?? null }),
      );
    case "find":
      throw new Error(`${call.key}: asked already, and told to ask again.`);
  }
}

/**
 * Tries that were each proved to have had no effect, a key's life and `settleMs` apart. One or two are bad luck; where so
 * many came to nothing, the next one would, too, and a person can see why.
 */
const provedAbsentTriesMax = 10;

/**
 * Raises the epoch and goes on as the one current entrant, or finds that another one is, or that what was read and
 * decided on isn't so any more.
 */
async function afterTakeOver<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  goOn: (taken: OperationSnapshot) => Promise<Step<Receipt>>,
): Promise<Step<Receipt>> {
  runtime.signal.throwIfAborted();
  const taken = await call.journal.takeOver({
    ...runtime.entrant,
    key: call.key,
    seen: operation,
  });
  return taken.result === "stale" ? overtaken : goOn(taken.operation);
}

/** Ends a try that is proved to have had no effect, stores the next one with its own provider key, and sends that. */
async function openTry<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  openedFor: "repair" | "proved-absent",
  why: string,
): Promise<Step<Receipt>> {
  return afterTakeOver(call, runtime, operation, async (taken) => {
    const next = await call.journal.nextTry({
      ...claimOf(runtime, taken),
      endedTry: operation.try.number,
      fingerprint:
        openedFor === "repair" ? fingerprintOf(call.request, call.projection) : operation.try.fingerprint,
      repair: openedFor === "repair" ? (call.repair ?? 0) : operation.try.repair,
      openedFor,
      why,
    });
    return next.result === "stale" ? overtaken : submitAndSend(call, runtime, next.operation);
  });
}

async function submitAndSend<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
): Promise<Step<Receipt>> {
  runtime.signal.throwIfAborted(); // ← the last place where a cancellation stops it
  const claim = claimOf(runtime, operation);
  const askedAt = runtime.now();
  const submitted = await call.journal.submit({ ...claim, owner: call.owner ?? null });
  if (submitted.result === "stale") {
    return overtaken;
  }
  if (submitted.result === "fenced") {
    if (operation.submitted === null) {
      throw new OperationFenced(call.key, call.owner!.id, call.owner!.generation);
    }
    return park(call, runtime, operation, "owner-fenced", { ownerId: call.owner!.id });
  }
  return send(call, runtime, submitted.operation, askedAt);
}

/**
 * A pause is rarely followed by another one at once, so the same call looks again; but each round writes, so not often:
 * ten times in the default patience.
 */
const heldUpRetryMs = 100;

/** @param askedAt when this process asked for the record of the submission, by its own clock. */
async function send<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  askedAt: number,
): Promise<Step<Receipt>> {
  const { policy } = call.provider;
  const heldUpForMs = runtime.now() - askedAt;
  if (!isStillSendable({ policy, ...sentAt(operation), heldUpForMs })) {
    callBegins(call.journal, call.key, operation.epoch, runtime.now)(); // no call: as good as one that has settled
    // Recorded like a send that said nothing: a machine that is held up each time is a person's to look at in the end.
    return recordAnswer(call, runtime, operation, {
      outcome: "unknown",
      cause: "held up before the send",
      retryAfterMs: heldUpRetryMs,
    });
  }
  const answer = await sendOnce(call, runtime, operation);
  return recordAnswer(call, runtime, operation, answer);
}

/** When it was sent first and last. Both are written by the statement that makes it `submitting`, so they are there. */
function sentAt(operation: OperationSnapshot): {
  readonly firstSubmittedAt: number;
  readonly submittedAt: number;
} {
  return { firstSubmittedAt: operation.try.firstSubmittedAt!, submittedAt: operation.submitted!.at };
}

function claimOf(runtime: Runtime, operation: OperationSnapshot): Claim {
  return { ...runtime.entrant, key: operation.key, epoch: operation.epoch };
}
