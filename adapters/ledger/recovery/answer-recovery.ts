import { sql, type Selectable } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { ParkAnswer } from "../../../activities/operation/journal.js";
import { workflowOfOperation } from "../../../workflows/invoice-approval/keys.js";
import type { Ledger, LedgerTransaction } from "../database.js";
import { storableJson } from "../json.js";
import { answerParkedOnce } from "../operations/answer-parked.js";
import { readRecovery } from "../operations/list-recovery.js";
import type { RecoveryQueueTable } from "../operations/tables.js";
import { enqueue } from "../outbox/enqueue.js";
import type { OutboxMessage } from "../outbox/message.js";
import { withRetry } from "../retryable.js";
import { possibleAnswers, type OperatorAnswer } from "./possible-answers.js";
import { receiptFor } from "./receipt-for.js";
import { restartIn } from "./restart-message.js";

export interface RecoveryAnswer {
  readonly recoveryId: number;
  /** Chosen by the one who answers: the same answer sent again under it gets the first answer. */
  readonly answerId: string;
  readonly by: string;
  readonly answer: OperatorAnswer;
  /** With `adopt`: under which reference it is there. */
  readonly reference?: string;
}

export type RecoveryAnswerResult =
  | { readonly result: "answered"; readonly subject: string; readonly consequence: string }
  /** Somebody else's answer, or this id with another content, was there first. */
  | { readonly result: "answered-before"; readonly by: string; readonly answerId: string | null }
  | { readonly result: "not-possible"; readonly why: string }
  | { readonly result: "unknown" };

/** The signal that wakes the process of an answered operation. Its one argument is `{ operationKey }`. */
export const operationHintSignal = "operationAnswered";

/**
 * Takes a person's answer: a compare-and-set on the open question, with what follows from it, the hint or the message
 * to send, in the same transaction. Of two answers one counts, and the other learns whose did.
 *
 * ```sql
 * -- about an operation: answerParkedOnce; then
 * insert into outbox … 'hint:answer:<question>' …;
 * -- about a message or an invoice
 * select … from recovery_queue where id = $1 for update;
 * update recovery_queue set answered_at = ledger_now(), … where id = $1 and answered_at is null;
 * insert into outbox … 'redrive:<question>' …;
 * delete from invoice_register …;                          -- an invoice that is settled and provably wasn't posted
 * ```
 *
 * Crash before the commit: the question is open. Crash after it: what follows is in the outbox, and the same answer
 * sent again changes nothing.
 */
export function answerRecovery(ledger: Ledger, given: RecoveryAnswer): Promise<RecoveryAnswerResult> {
  return withRetry(() => ledger.transaction().execute((transaction) => decide(transaction, given)), {
    readBack: "repeatable",
  });
}

async function decide(transaction: LedgerTransaction, given: RecoveryAnswer): Promise<RecoveryAnswerResult> {
  const seen = await readRecovery(transaction, given.recoveryId);
  if (seen === undefined) return { result: "unknown" };
  const { answers, advice } = possibleAnswers(seen);
  if (!answers.includes(given.answer)) return { result: "not-possible", why: advice };
  return seen.subject_kind === "operation"
    ? answerOperation(transaction, given, seen)
    : answerOther(transaction, given);
}

async function answerOperation(
  transaction: LedgerTransaction,
  given: RecoveryAnswer,
  question: Selectable<RecoveryQueueTable>,
): Promise<RecoveryAnswerResult> {
  const answer = parkAnswerOf(given, question);
  if (answer === undefined) {
    return {
      result: "not-possible",
      why: `The evidence doesn't hold what was asked for, so --adopt needs the whole receipt as JSON instead of a reference.`,
    };
  }
  const { recoveryId, answerId, by } = given;
  const answered = await answerParkedOnce(transaction, { recoveryId, answerId, by, answer });
  if (answered.result === "not-parked") {
    return { result: "not-possible", why: "The operation isn't parked any more; list again." };
  }
  if (answered.result !== "answered") return answered;
  const workflowId = workflowOfOperation(answered.key);
  if (workflowId !== undefined) {
    await enqueue(transaction, `hint:answer:${recoveryId}`, {
      kind: "signal",
      workflowId,
      signal: operationHintSignal,
      args: [{ operationKey: answered.key }],
    });
  }
  return { result: "answered", subject: answered.key, consequence: `the operation is ${answered.state}` };
}

function parkAnswerOf(
  { answer, reference = "" }: RecoveryAnswer,
  { evidence }: Selectable<RecoveryQueueTable>,
): ParkAnswer | undefined {
  if (answer !== "adopt") return { answer };
  const receipt = receiptFor(reference, evidence);
  return receipt === undefined ? undefined : { answer, receipt };
}

async function answerOther(
  transaction: LedgerTransaction,
  given: RecoveryAnswer,
): Promise<RecoveryAnswerResult> {
  const question = await lock(transaction, given.recoveryId);
  if (question.answered_by !== null) return storedAnswer(given, question);
  const consequence = await follow(transaction, given, question);
  await settle(transaction, given, { ...contentOf(given), consequence });
  return { result: "answered", subject: question.subject, consequence };
}

/** What came of an answer stays with it, so that the same one sent again is told the same. */
function storedAnswer(given: RecoveryAnswer, question: Selectable<RecoveryQueueTable>): RecoveryAnswerResult {
  const { answer, reference, consequence } = question.answer as Readonly<Record<string, string | undefined>>;
  const isSame =
    question.answer_id === given.answerId &&
    question.answered_by === given.by &&
    answer === given.answer &&
    reference === given.reference;
  return isSame
    ? { result: "answered", subject: question.subject, consequence: consequence ?? "" }
    : { result: "answered-before", by: question.answered_by ?? "", answerId: question.answer_id };
}

function contentOf({ answer, reference }: RecoveryAnswer) {
  return { answer, ...(reference === undefined ? {} : { reference }) };
}

/** `select … for update`: two answers at once are one after the other. */
function lock(transaction: LedgerTransaction, id: number): Promise<Selectable<RecoveryQueueTable>> {
  return transaction
    .selectFrom("recovery_queue")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

async function settle(
  transaction: LedgerTransaction,
  { recoveryId, by, answerId }: RecoveryAnswer,
  answer: JsonValue,
): Promise<void> {
  await sql`
    update recovery_queue
    set answered_at = ledger_now(), answered_by = ${by}, answer_id = ${answerId},
        answer = ${storableJson("answer", answer)}::jsonb
    where id = ${recoveryId} and answered_at is null`.execute(transaction);
}

async function follow(
  transaction: LedgerTransaction,
  { answer, recoveryId }: RecoveryAnswer,
  question: Selectable<RecoveryQueueTable>,
): Promise<string> {
  if (answer === "adopt") {
    return (await releaseIfNeverPosted(transaction, question))
      ? "the question is closed, and the invoice's number is free again"
      : "the question is closed";
  }
  const message =
    question.subject_kind === "outbox"
      ? await failedMessage(transaction, question.subject)
      : restartIn(question.evidence);
  if (message === undefined) throw new Error(`The question ${recoveryId} names a message that isn't there.`);
  await enqueue(transaction, `redrive:${recoveryId}`, message);
  return message.kind === "start" ? `${message.workflowId} is started again` : "the message is sent again";
}

async function failedMessage(
  transaction: LedgerTransaction,
  messageKey: string,
): Promise<OutboxMessage | undefined> {
  const { rows } = await sql<{ body: OutboxMessage }>`
    select body from outbox where message_key = ${messageKey}`.execute(transaction);
  return rows[0]?.body;
}

async function releaseIfNeverPosted(
  transaction: LedgerTransaction,
  { evidence }: Selectable<RecoveryQueueTable>,
): Promise<boolean> {
  const { processingId } = evidence as { readonly processingId?: unknown };
  if (typeof processingId !== "string") return false;
  const { numAffectedRows } = await sql`
    delete from invoice_register r
    where r.processing_id = ${processingId}
      and not exists (select from operations o
                      where o.key = 'invoice:' || r.invoice_key || ':post' and o.state <> 'refused')`.execute(
    transaction,
  );
  return (numAffectedRows ?? 0n) > 0n;
}
