import { sql, type RawBuilder } from "kysely";

import {
  reasonsAReceiptAnswers,
  type OperationSnapshot,
  type Receipt,
} from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { fixedStatement } from "../fixed-statement.js";
import { withRetry } from "../retryable.js";
import { read } from "./read.js";
import { snapshotColumns, toSnapshot, type SnapshotRow } from "./snapshot.js";
import { parkAnswers, recordEvent } from "./statement.js";

/**
 * Any state → `confirmed`, by any epoch, or → `parked` when the receipt contradicts what is known:
 * another receipt is stored; or it came from an earlier try, and the current one may have been sent too or asks for
 * something else; or the operation is parked because of a contradiction, which a receipt doesn't answer.
 *
 * The same receipt again changes nothing. A question that only asked "did it happen?" is answered by the receipt.
 *
 * ```sql
 * update operations set state = case when <fits> then 'confirmed' else 'parked' end, receipt = coalesce(receipt, $2)
 * where key = $1 and (receipt is null or receipt <> $2) returning *
 * ```
 */
export async function confirm(
  ledger: Ledger,
  receipt: Receipt,
): Promise<{ readonly result: "confirmed" | "parked"; readonly operation: OperationSnapshot }> {
  // Repeatable: the second time the receipt is stored already, and nothing changes.
  const operation = await withRetry(
    async () => (await write(ledger, receipt)) ?? (await read(ledger, receipt.key)),
    { readBack: "repeatable" },
  );
  if (operation?.state !== "confirmed" && operation?.state !== "parked") {
    throw new Error(`${receipt.key}: a receipt left it ${operation?.state ?? "missing"}.`);
  }
  return { result: operation.state, operation };
}

async function write(ledger: Ledger, receipt: Receipt): Promise<OperationSnapshot | undefined> {
  const { key, epoch, tryNumber, outcome, attempt, worker } = receipt;
  const rows = await update(ledger, {
    key,
    epoch,
    tryNumber,
    outcome,
    receipt: receipt.receipt,
    attempt,
    worker,
  });
  return rows[0] === undefined ? undefined : toSnapshot(rows[0]);
}

const update = fixedStatement<Receipt, SnapshotRow>(
  {
    key: "text",
    epoch: "integer",
    tryNumber: "integer",
    outcome: "text",
    receipt: "jsonb",
    attempt: "integer",
    worker: "text",
  },
  (given) => sql`
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
      ${recordEvent("confirm", given, {
        why: sql.lit("a receipt"),
        detailExpression: sql`jsonb_build_object('receipt', ${given.receipt}, 'tryNumber', ${given.tryNumber})`,
        epoch: given.epoch,
      })}
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
    select ${snapshotColumns}
    from changed o join operation_tries t on t.key = o.key and t.number = o.try_number`,
);

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
