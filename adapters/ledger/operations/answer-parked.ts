import { sql, type RawBuilder } from "kysely";

import {
  redriveBesideAReceipt,
  type AnswerResult,
  type AnswerToParked,
} from "../../../activities/operation/journal.js";
import type { OperationState } from "../../../activities/operation/states.js";
import type { Ledger } from "../database.js";
import { withRetry } from "../retryable.js";
import { inStateBefore, json } from "./statement.js";

/**
 * `parked` → what a person, or a reconciler, answers: `adopt` → `confirmed`, `absent` → `intended` with the next try,
 * `redrive` → `unknown`, to be asked about by the same rules and with a new time until it parks again.
 *
 * `redrive` is refused beside an earlier try's receipt when the current try was never sent: it would be sent then.
 *
 * Compare-and-set on the open question: of two answers one counts, and the other learns whose did. Sent again under
 * the same id it gives the same result. The epoch is raised, so that no entrant from before can guess over it.
 *
 * The operation is locked before the question, as everywhere; the other order would make deadlocks.
 *
 * ```sql
 * with held as (select … from operations o join recovery_queue q … where q.id = $1 for update of o),
 *      answered as (update recovery_queue set answered_at = ledger_now() … where id = $1 and answered_at is null …),
 *      changed as (update operations set …, epoch = epoch + 1 …), …
 * ```
 */
export async function answerParked(ledger: Ledger, given: AnswerToParked): Promise<AnswerResult> {
  return withRetry(() => answerParkedOnce(ledger, given), { readBack: "repeatable" });
}

/** The same without retries, for a caller's transaction: a failure ends that, so only its caller can repeat it. */
export async function answerParkedOnce(ledger: Ledger, given: AnswerToParked): Promise<AnswerResult> {
  return (await write(ledger, given)) ?? (await answerThere(ledger, given));
}

async function write(ledger: Ledger, given: AnswerToParked): Promise<AnswerResult | undefined> {
  const { rows } = await sql<{ key: string; state: OperationState }>`
    with held as materialized (
      select o.key
      from operations o join recovery_queue q on q.subject_kind = 'operation' and q.subject = o.key
      where q.id = ${given.recoveryId} and ${inStateBefore("answer")}
        and not (${given.answer.answer === "redrive"} and ${besideAReceipt})
      for update of o
    ), answered as (
      update recovery_queue q
      set answered_at = ledger_now(), answered_by = ${given.by}, answer_id = ${given.answerId},
          answer = ${json(given.answer)}
      from held
      where q.id = ${given.recoveryId} and q.answered_at is null
      returning q.subject
    ), changed as (
      update operations o
      set epoch = o.epoch + 1, parked_reason = null, changed_at = ledger_now(), ${changes(given)}
      from answered
      where o.key = answered.subject
      returning o.*
    ), opened as (
      insert into operation_tries
        (key, number, provider_key, fingerprint, projection_version, repair, opened_for, opened_at)
      select t.key, t.number + 1, t.key || '/try-' || (t.number + 1), t.fingerprint, t.projection_version, t.repair,
             'answer', changed.changed_at
      from changed join operation_tries t on t.key = changed.key and t.number = changed.try_number - 1
      where ${given.answer.answer === "absent"}
    ), event as (
      insert into operation_events (key, at, verb, state, epoch, try_number, worker, why, detail)
      select key, ledger_now(), 'answer', state, epoch, try_number, ${given.by}, ${given.answer.answer},
             jsonb_build_object('answerId', ${given.answerId}::text, 'recoveryId', ${given.recoveryId}::bigint,
                                'answer', ${json(given.answer)})
      from changed
    )
    select key, state from changed`.execute(ledger);
  return rows[0] === undefined ? undefined : { result: "answered", ...rows[0] };
}

/** The current try was never sent, and the receipt of an earlier one is stored. */
const besideAReceipt = sql`(o.submitted_at is null and o.receipt is not null)`;

/** What each answer makes of the operation. What it had stored stays in the events. */
function changes({ answer }: AnswerToParked): RawBuilder<unknown> {
  switch (answer.answer) {
    case "adopt":
      return sql`state = 'confirmed', receipt = ${json(answer.receipt)}, outcome = 'done'`;
    case "absent":
      return sql`state = 'intended', try_number = o.try_number + 1, submitted_at = null, submitted_epoch = null,
                 uncertain_since = null, receipt = null, outcome = null, operation_url = null, poll_after_ms = null,
                 refusal_code = null, refusal_detail = null`;
    case "redrive":
      return sql`state = case when o.submitted_at is null then 'intended' else 'unknown' end,
                 uncertain_since = case when o.submitted_at is null then null else ledger_now() end,
                 receipt = null, outcome = null, operation_url = null, poll_after_ms = null`;
  }
}

/** Nothing changed: whose answer is there? */
async function answerThere(ledger: Ledger, given: AnswerToParked): Promise<AnswerResult> {
  const { rows } = await sql<{
    key: string;
    by: string | null;
    id: string | null;
    same: boolean;
    state: OperationState;
    besideAReceipt: boolean;
  }>`
    select q.subject as key, q.answered_by as by, q.answer_id as id, q.answer = ${json(given.answer)} as same,
           coalesce(e.state, o.state) as state,
           (${inStateBefore("answer")} and ${besideAReceipt}) as "besideAReceipt"
    from recovery_queue q
    join operations o on o.key = q.subject
    left join operation_events e
      on e.key = o.key and e.verb = 'answer' and (e.detail ->> 'recoveryId')::bigint = q.id
    where q.subject_kind = 'operation' and q.id = ${given.recoveryId}`.execute(ledger);
  const row = rows[0];
  if (row === undefined || row.by === null) {
    return row?.besideAReceipt && given.answer.answer === "redrive"
      ? { result: "not-possible", why: redriveBesideAReceipt }
      : { result: "not-parked" };
  }
  return row.id === given.answerId && row.same
    ? { result: "answered", key: row.key, state: row.state }
    : { result: "answered-before", by: row.by, answerId: row.id ?? "receipt" };
}
