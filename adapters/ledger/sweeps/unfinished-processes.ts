import { sql } from "kysely";

import type {
  EndedProcess,
  Page,
  UnfinishedProcess,
  UnfinishedProcesses,
} from "../../../activities/sweeps/ports.js";
import type { Ledger } from "../database.js";
import { storableJson } from "../json.js";
import { processEnded } from "../recovery/possible-answers.js";

export function createUnfinishedProcesses(ledger: Ledger): UnfinishedProcesses {
  return {
    page: (page) => pageOfUnfinishedProcesses(ledger, page),
    report: (process) => reportEndedProcess(ledger, process),
  };
}

/**
 * Invoices in the register whose posting isn't confirmed. A parked one has a question of its own; one that is asked
 * about, or that a message is about to start again, has its answer or will get it.
 *
 * ```sql
 * select … from invoice_register r left join operations o on o.key = 'invoice:' || r.invoice_key || ':post'
 *   where (o.key is null or o.state not in ('confirmed', 'parked')) and … < ledger_now() - $1 and processing_id > $2
 *     and not exists (select from recovery_queue …) and not exists (select from outbox …)
 *   order by processing_id limit $3
 * ```
 *
 * It reads past every posted invoice, as the register keeps them; an index over the state of operations would be paid
 * for by each of them twice, and the sweep runs once in minutes.
 */
export async function pageOfUnfinishedProcesses(
  ledger: Ledger,
  { olderThanMs, after = "", limit }: Page,
): Promise<readonly UnfinishedProcess[]> {
  const { rows } = await sql<UnfinishedProcess>`
    select r.processing_id as "processingId", 'invoice:' || r.invoice_key as "workflowId",
           o.state as "operationState"
    from invoice_register r left join operations o on o.key = 'invoice:' || r.invoice_key || ':post'
    where (o.key is null or o.state not in ('confirmed', 'parked'))
      and greatest(r.claimed_at, o.changed_at) < ledger_now() - ${olderThanMs}::float8 * interval '1 millisecond'
      and r.processing_id > ${after}
      and not exists (select from recovery_queue q
                      where q.subject_kind = 'invoice' and q.subject = 'invoice:' || r.invoice_key
                        and q.answered_at is null)
      and not exists (select from outbox m
                      where m.ordering_key = 'workflow:invoice:' || r.invoice_key
                        and m.state = 'pending' and m.kind = 'start')
    order by r.processing_id limit ${limit}`.execute(ledger);
  return rows;
}

/**
 * ```sql
 * insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
 *   values ('invoice', $1, 'process-ended', $2, '{}', ledger_now())
 *   on conflict (subject_kind, subject) where answered_at is null do nothing
 * ```
 */
export async function reportEndedProcess(ledger: Ledger, ended: EndedProcess): Promise<void> {
  const { processingId, workflowId, operationState, status, start } = ended;
  const evidence = storableJson("evidence", {
    processingId,
    operationState,
    status,
    ...(start === undefined ? {} : { restart: start }),
  });
  await sql`
    insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
    values ('invoice', ${workflowId}, ${processEnded}, ${evidence}::jsonb, '{}', ledger_now())
    on conflict (subject_kind, subject) where answered_at is null do nothing`.execute(ledger);
}
