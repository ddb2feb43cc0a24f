import { sql, type RawBuilder } from "kysely";

import {
  reasonsAReceiptAnswers,
  type Confirmed,
  type Receipt,
} from "../../../activities/operation/journal.js";
import type { JsonValue } from "../../../activities/operation/json.js";
import type { OperationState } from "../../../activities/operation/states.js";
import type { Ledger } from "../database.js";
import { fixedStatement } from "../fixed-statement.js";
import { withRetry } from "../retryable.js";
import { read } from "./read.js";
import { parkAnswers, recordEvent } from "./statement.js";

/**
 * The states in which a send's outcome is open and no row of the recovery queue asks about it: that is there only
 * while an operation is parked.
 */
const openAndUnquestioned: readonly OperationState[] = ["submitting", "unknown", "accepted"];

/**
 * Any state → `confirmed`, by any epoch, or → `parked` when the receipt contradicts what is known:
 * another receipt is stored; or it came from an earlier try, and the current one may have been sent too or asks for
 * something else; or the operation is parked because of a contradiction, which a receipt doesn't answer.
 *
 * The same receipt again changes nothing. A question that only asked "did it happen?" is answered by the receipt.
 *
 * The ordinary receipt, that of the current try of an operation that is open and not parked, has a statement of its
 * own: nothing can contradict it there, and no question is open. Only when that changes nothing is the general one
 * made, which looks at everything by itself and rests on nothing that the first one saw.
 *
 * ```sql
 * update operations set state = 'confirmed', receipt = $2
 * where key = $1 and try_number = $3 and receipt is null and state in ('submitting', 'unknown', 'accepted')
 * -- and, when that gave no row:
 * update operations set state = case when <fits> then 'confirmed' else 'parked' end, receipt = coalesce(receipt, $2)
 * where key = $1 and (receipt is null or receipt <> $2)
 * ```
 */
export async function confirm(ledger: Ledger, receipt: Receipt): Promise<Confirmed> {
  // Repeatable: the second time the receipt is stored already, and nothing changes.
  return withRetry(
    async () =>
      (await write(statements.ordinary, ledger, receipt)) ??
      (await write(statements.general, ledger, receipt)) ??
      (await readStored(ledger, receipt.key)),
    { readBack: "repeatable" },
  );
}

async function write(
  statement: (typeof statements)[keyof typeof statements],
  ledger: Ledger,
  { key, epoch, tryNumber, outcome, receipt, attempt, worker }: Receipt,
): Promise<Confirmed | undefined> {
  const rows = await statement(ledger, { key, epoch, tryNumber, outcome, receipt, attempt, worker });
  return rows[0] && { result: rows[0].state, operation: rows[0] };
}

/** Neither statement changed anything: the receipt is stored already. */
async function readStored(ledger: Ledger, key: string): Promise<Confirmed> {
  const operation = await read(ledger, key);
  if (operation?.state !== "confirmed" && operation?.state !== "parked") {
    throw new Error(`${key}: a receipt left it ${operation?.state ?? "missing"}.`);
  }
  return { result: operation.state, operation };
}

/** The changed row. */
type Written = Confirmed["operation"] & { readonly state: Confirmed["result"] };

const writtenColumns = sql`state, receipt, outcome, parked_reason as "parkedFor"`;

const parameters = {
  key: "text",
  epoch: "integer",
  tryNumber: "integer",
  outcome: "text",
  receipt: "jsonb",
  attempt: "integer",
  worker: "text",
} as const;

const ordinary = fixedStatement(
  parameters,
  (given) => sql<Written>`
    with changed as (
      update operations o
      set state = 'confirmed', outcome = ${given.outcome}, receipt = ${given.receipt}, changed_at = ledger_now()
      where o.key = ${given.key} and o.try_number = ${given.tryNumber} and o.receipt is null
        and o.state in (${sql.join(openAndUnquestioned.map((state) => sql.lit(state)))})
      returning o.*
    ), event as (
      ${receiptEvent(given)}
    )
    select ${writtenColumns} from changed`,
);

const general = fixedStatement(
  parameters,
  (given) => sql<Written>`
    with changed as (
      update operations o
      set state = case when ${fits(given.tryNumber)} then 'confirmed' else 'parked' end,
          parked_reason = case when ${fits(given.tryNumber)} then null
                               when o.receipt is null then coalesce(o.parked_reason, 'other-receipt')
                               else 'other-receipt' end,
          outcome = coalesce(o.outcome, ${given.outcome}), receipt = coalesce(o.receipt, ${given.receipt}),
          changed_at = ledger_now()
      where o.key = ${given.key} and (o.receipt is null or o.receipt <> ${given.receipt})
      returning o.*
    ), event as (
      ${receiptEvent(given)}
    ), answered as (
      update recovery_queue q
      set answered_at = ledger_now(), answered_by = ${given.worker}, answer = '{"answer":"receipt"}'
      from changed
      where changed.state = 'confirmed' and q.subject_kind = 'operation' and q.subject = changed.key
        and q.answered_at is null
    ), question as (
      insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
      select 'operation', key, parked_reason,
             jsonb_build_object('stored', receipt, 'given', ${given.receipt}, 'givenByTry', ${given.tryNumber},
                                'currentTry', try_number),
             ${parkAnswers}, ledger_now()
      from changed where state = 'parked'
      on conflict (subject_kind, subject) where answered_at is null do nothing
    )
    select ${writtenColumns} from changed`,
);

const statements = { ordinary, general };

function receiptEvent(given: {
  readonly attempt: RawBuilder<number>;
  readonly worker: RawBuilder<string>;
  readonly epoch: RawBuilder<number>;
  readonly tryNumber: RawBuilder<number>;
  readonly receipt: RawBuilder<JsonValue>;
}): RawBuilder<unknown> {
  return recordEvent("confirm", given, {
    why: sql.lit("a receipt"),
    detailExpression: sql`jsonb_build_object('receipt', ${given.receipt}, 'tryNumber', ${given.tryNumber})`,
    epoch: given.epoch,
  });
}

/** In terms of the row before the change: nothing stands against the receipt. */
function fits(tryNumber: RawBuilder<number>): RawBuilder<boolean> {
  return sql`(
    o.receipt is null
    and (o.state <> 'parked' or o.parked_reason in (${sql.join(reasonsAReceiptAnswers.map((reason) => sql.lit(reason)))}))
    and (o.try_number = ${tryNumber} or (
      o.submitted_at is null and (
        select count(distinct (t.fingerprint, t.projection_version)) = 1 from operation_tries t
        where t.key = o.key and t.number in (${tryNumber}, o.try_number))))
  )`;
}
