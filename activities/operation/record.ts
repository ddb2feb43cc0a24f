/** The last part of a step: what is known now goes into the journal, and becomes a result, an error or a wait. */
import { afterAnswer, afterReceipt, type ToRecord } from "./after-answer.js";
import { afterUncertainSend } from "./after-uncertain-send.js";
import { overtaken, type PerformCall, type Performed, type Step } from "./call.js";
import type { Runtime } from "./context.js";
import { OperationParked, OperationRefused } from "./errors.js";
import type { Claim, OperationSnapshot, ParkReason } from "./journal.js";
import type { JsonValue } from "./json.js";
import type { Answer } from "./provider.js";
import { askOnce } from "./send.js";
import { earlierSender } from "./senders.js";

/** @param operation as it was when it was sent: its epoch and its try are those of this entrant. */
export async function recordAnswer<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  answer: Answer<Receipt>,
): Promise<Step<Receipt>> {
  const sameEffect = (receipt: Receipt) => call.provider.sameEffect(call.request, receipt);
  const toRecord = afterAnswer(answer, sameEffect);
  if (toRecord.record !== "after-asking") {
    return recordWhatIs(call, runtime, operation, toRecord);
  }
  if (!call.provider.policy.canFind) {
    return park(call, runtime, operation, "cannot-be-asked", { said: toRecord.detail });
  }
  const found = await askOnce(call, runtime);
  return found.found === "present"
    ? recordWhatIs(call, runtime, operation, afterReceipt(found.receipt, sameEffect))
    : recordWhatIs(call, runtime, operation, {
        record: "unknown",
        cause: `said to exist (${toRecord.detail}), and asking gave ${found.found}`,
      });
}

export async function recordWhatIs<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  what: Exclude<ToRecord<Receipt>, { record: "after-asking" }>,
): Promise<Step<Receipt>> {
  const { journal } = call;
  const claim: Claim = { ...runtime.entrant, key: call.key, epoch: operation.epoch };
  switch (what.record) {
    case "receipt": {
      const { receipt, outcome } = what;
      const stored = await journal.confirm({ ...claim, tryNumber: operation.try.number, receipt, outcome });
      if (stored.result === "parked") {
        throw new OperationParked(call.key, stored.operation.parkedFor!);
      }
      return { step: "end", performed: storedReceipt(stored.operation) };
    }
    case "accepted": {
      const { operationUrl, pollAfterMs } = what;
      const stored = await journal.accept({
        ...claim,
        tryNumber: operation.try.number,
        operationUrl,
        pollAfterMs,
      });
      return stored.result === "stale"
        ? overtaken
        : { step: "end", performed: { outcome: "accepted", operationUrl, pollAfterMs } };
    }
    case "refused":
      if ((await journal.refuse({ ...claim, ...what.refusal })).result === "stale") {
        return overtaken;
      }
      throw new OperationRefused(call.key, what.refusal);
    case "parked":
      return park(call, runtime, operation, what.reason, what.evidence);
    case "unknown":
      return recordUnknown(call, runtime, operation, what.cause, what.retryAfterMs);
  }
}

/** The send ended and said nothing. Past `parkAfterMs` it is a person's, so attempts never simply run out. */
async function recordUnknown<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  cause: string,
  retryAfterMs: number | undefined,
): Promise<Step<Receipt>> {
  const { policy } = call.provider;
  const submittedAt = operation.submitted!.at;
  const uncertainSince = operation.uncertainSince ?? submittedAt;
  if (submittedAt - uncertainSince >= policy.parkAfterMs) {
    return park(call, runtime, operation, "no-outcome-in-time", { lastAnswer: cause });
  }
  const claim: Claim = { ...runtime.entrant, key: call.key, epoch: operation.epoch };
  if ((await call.journal.markUnknown({ ...claim, cause })).result === "stale") {
    return overtaken;
  }
  const next = afterUncertainSend({
    policy,
    firstSubmittedAt: operation.try.firstSubmittedAt!,
    submittedAt,
    uncertainSince,
    now: submittedAt,
    earlierSender: earlierSender(call.journal, operation, runtime.now),
  });
  const settlesInMs = next.next === "wait" ? next.ms : undefined;
  return { step: "wait", ms: longer(retryAfterMs, settlesInMs), because: cause };
}

export async function park<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  runtime: Runtime,
  operation: OperationSnapshot,
  reason: ParkReason,
  evidence: JsonValue,
): Promise<Step<Receipt>> {
  const parked = await call.journal.park({
    ...runtime.entrant,
    key: call.key,
    epoch: operation.epoch,
    reason,
    evidence: {
      provider: call.provider.name,
      providerKey: operation.try.providerKey,
      request: call.projection.of(call.request),
      evidence,
    },
  });
  if (parked.result === "stale") {
    return overtaken;
  }
  throw new OperationParked(call.key, reason);
}

/** The result that a confirmed or accepted operation has stored. */
export function storedResult<Receipt extends JsonValue>(operation: OperationSnapshot): Performed<Receipt> {
  return operation.state === "accepted"
    ? { outcome: "accepted", ...operation.accepted! }
    : storedReceipt(operation);
}

/** The receipt that a confirmed operation has stored. */
export function storedReceipt<Receipt extends JsonValue>(
  operation: Pick<OperationSnapshot, "receipt" | "outcome">,
): Performed<Receipt> {
  return { outcome: operation.outcome!, receipt: operation.receipt as Receipt };
}

function longer(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.max(one, other);
}
