/** One round of the relay: claim, send outside any transaction, settle. */
import { sql } from "kysely";

import type { Ledger } from "../../adapters/ledger/database.js";
import type { LeaseResult } from "../../adapters/ledger/lease.js";
import { claimOutbox, type ClaimedMessage } from "../../adapters/ledger/outbox/claim.js";
import type {
  Claimed,
  Delivery,
  Sender,
  WorkflowMessageKind,
} from "../../adapters/ledger/outbox/delivery.js";
import { markFailed } from "../../adapters/ledger/outbox/mark-failed.js";
import { markSent } from "../../adapters/ledger/outbox/mark-sent.js";
import { releaseOutbox } from "../../adapters/ledger/outbox/release.js";
import { withRetry } from "../../adapters/ledger/retryable.js";

export interface Dispatcher {
  readonly ledger: Ledger;
  readonly owner: string;
  readonly leaseMs: number;
  /** Most messages in one round; all of them are of different ordering keys, and are sent at the same time. */
  readonly batchSize: number;
  readonly sendToWorkflow: Sender<WorkflowMessageKind>;
  readonly sendMail: Sender<"mail">;
  readonly onSettled?: (message: ClaimedMessage, delivery: Delivery, result: LeaseResult) => void;
}

export interface Round {
  readonly claimed: number;
  /** The back-off of each message that has to be sent again, in milliseconds. */
  readonly retryAfterMs: readonly number[];
}

/**
 * A crash before the claim leaves everything as it was. One between claim and settlement leaves a lease, which runs
 * out, and another dispatcher sends the same message again under the same key. One after the settlement leaves
 * nothing to do.
 *
 * @throws when the ledger can't be used; claimed messages that aren't settled then wait for the end of their lease.
 */
export async function dispatchRound(dispatcher: Dispatcher): Promise<Round> {
  const { ledger, owner, leaseMs, batchSize } = dispatcher;
  const claimed = await claimOutbox(ledger, { owner, leaseMs, limit: batchSize });
  const settled = await Promise.allSettled(claimed.map((message) => deliver(dispatcher, message)));
  const broken = settled.find((each) => each.status === "rejected");
  if (broken !== undefined) {
    throw broken.reason;
  }
  const retryAfterMs = settled.flatMap((each) =>
    each.status === "fulfilled" && each.value !== undefined ? [each.value] : [],
  );
  return { claimed: claimed.length, retryAfterMs };
}

/** @returns the back-off when the message has to be sent again. */
async function deliver(dispatcher: Dispatcher, claimed: ClaimedMessage): Promise<number | undefined> {
  const delivery = await (isMail(claimed)
    ? dispatcher.sendMail(claimed)
    : dispatcher.sendToWorkflow(claimed as Claimed<WorkflowMessageKind>));
  const retryAfterMs = delivery.delivery === "again" ? backOffMs(claimed, delivery) : undefined;
  // Settling twice changes nothing: the second time the lease is gone, which is "stale".
  const result = await withRetry(() => settle(dispatcher.ledger, claimed, delivery, retryAfterMs ?? 0), {
    readBack: "repeatable",
  });
  dispatcher.onSettled?.(claimed, delivery, result);
  return retryAfterMs;
}

function isMail(claimed: ClaimedMessage): claimed is Claimed<"mail"> {
  return claimed.message.kind === "mail";
}

async function settle(
  ledger: Ledger,
  claimed: ClaimedMessage,
  delivery: Delivery,
  retryAfterMs: number,
): Promise<LeaseResult> {
  switch (delivery.delivery) {
    case "sent":
      return markSent(ledger, { ...claimed, outcome: delivery.outcome });
    case "again":
      return releaseOutbox(ledger, { ...claimed, error: delivery.error, retryAfterMs });
    case "failed":
      return delivery.needsPerson
        ? failAndReport(ledger, claimed, delivery)
        : markFailed(ledger, { ...claimed, reason: delivery.reason, outcome: delivery.outcome });
  }
}

/**
 * The failure and its row for a person, together or not at all.
 *
 * ```sql
 * insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
 *   values ('outbox', $message_key, $reason, $evidence, '{}', ledger_now())
 *   on conflict (subject_kind, subject) where answered_at is null do nothing
 * ```
 */
async function failAndReport(
  ledger: Ledger,
  claimed: ClaimedMessage,
  { reason, outcome }: Extract<Delivery, { delivery: "failed" }>,
): Promise<LeaseResult> {
  return ledger.transaction().execute(async (transaction) => {
    const result = await markFailed(transaction, { ...claimed, reason, outcome });
    if (result === "done") {
      const evidence = JSON.stringify({ kind: claimed.message.kind, claims: claimed.claim, reason, outcome });
      await sql`
        insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
        values ('outbox', ${claimed.messageKey}, 'message-not-deliverable', ${evidence}::jsonb, '{}', ledger_now())
        on conflict (subject_kind, subject) where answered_at is null do nothing`.execute(transaction);
    }
    return result;
  });
}

/** A receiver that restarts is back within a second or two; the first tries cost little and mostly suffice. */
const backOffMsMin = 250;
/** Half a minute after a long outage is soon enough, and an outage of a day costs few tries. */
const backOffMsMax = 30_000;

/** Doubled with each claim, up to 50 % longer by chance, and at least what the receiver asked for. */
function backOffMs(claimed: ClaimedMessage, { retryAfterMs = 0 }: { retryAfterMs?: number }): number {
  const doubled = Math.min(backOffMsMin * 2 ** Math.min(claimed.claim - 1, 20), backOffMsMax);
  return Math.ceil(Math.max(doubled * (1 + Math.random() / 2), retryAfterMs));
}
