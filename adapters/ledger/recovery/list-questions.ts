import { sql, type Selectable } from "kysely";

import type { Ledger } from "../database.js";
import type { RecoveryQueueTable } from "../operations/tables.js";
import { possibleAnswers, type PossibleAnswers } from "./possible-answers.js";

export type OpenQuestion = Selectable<RecoveryQueueTable> & PossibleAnswers & { readonly ageMs: number };

/** Most questions given at once: a screen for a person, not an export. */
const listedMax = 500;

/**
 * The open questions, the oldest first, each with its age by the ledger's clock and what can be answered.
 *
 * ```sql
 * select *, ledger_now() - opened_at from recovery_queue where answered_at is null order by id limit 500
 * ```
 *
 * @param id only this one, also when it was answered
 */
export async function listQuestions(ledger: Ledger, id?: number): Promise<readonly OpenQuestion[]> {
  const { rows } = await sql<Selectable<RecoveryQueueTable> & { ageMs: number }>`
    select *, greatest(0, extract(epoch from ledger_now() - opened_at) * 1000)::bigint as "ageMs"
    from recovery_queue where ${id === undefined ? sql`answered_at is null` : sql`id = ${id}`}
    order by id limit ${listedMax}`.execute(ledger);
  return rows.map((row) => ({ ...row, ...possibleAnswers(row) }));
}
