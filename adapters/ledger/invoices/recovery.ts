import { sql } from "kysely";

import type { RecoveryEntry, RecoveryQueue } from "../../../activities/invoice-approval/ports.js";
import type { Ledger } from "../database.js";

const subjectKind = "invoice";

/** Puts invoices that ended unresolved into the queue that people look at. */
export function createRecoveryQueue(ledger: Ledger): RecoveryQueue {
  return { report: (entry) => reportForRecovery(ledger, entry) };
}

/**
 * One open question about one invoice: a second report while it is open adds nothing. Which answers it takes depends on
 * its reason and on whether its process can be started again; see `possibleAnswers`.
 *
 * ```sql
 * insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
 *   values ('invoice', $1, $2, $3, '{}', ledger_now())
 *   on conflict (subject_kind, subject) where answered_at is null do nothing
 * ```
 */
export async function reportForRecovery(
  ledger: Ledger,
  { subject, reason, ...evidence }: RecoveryEntry,
): Promise<void> {
  await sql`
    insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
    values (${subjectKind}, ${subject}, ${reason}, ${JSON.stringify(evidence)}::jsonb, '{}', ledger_now())
    on conflict (subject_kind, subject) where answered_at is null do nothing`.execute(ledger);
}
