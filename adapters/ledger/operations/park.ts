import { sql } from "kysely";

import type { Parking, Stale } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { prepared } from "../prepared-statements.js";
import { read } from "./read.js";
import { inStateBefore, json, once, parkAnswers, recordEvent, stale } from "./statement.js";

/**
 * `submitting`, `unknown` or `accepted` → `parked`, by the current epoch only, with its row in `recovery_queue` in the
 * same statement.
 *
 * ```sql
 * with changed as (update operations set state = 'parked', parked_reason = $3
 *                  where key = $1 and epoch = $2 and state in (…) returning *),
 *      question as (insert into recovery_queue (…) select … from changed), …
 * ```
 */
export async function park(ledger: Ledger, parking: Parking): Promise<{ readonly result: "parked" } | Stale> {
  const { key, epoch, reason, evidence } = parking;
  const done = { result: "parked" } as const;
  const result = await once(
    async () => {
      const { rows } = await sql`${prepared}
        with changed as (
          update operations o set state = 'parked', parked_reason = ${reason}, changed_at = ledger_now()
          where o.key = ${key} and o.epoch = ${epoch} and ${inStateBefore("park")}
          returning o.*
        ), question as (
          insert into recovery_queue (subject_kind, subject, reason, evidence, answers, opened_at)
          select 'operation', key, ${reason}, ${json(evidence)}, ${parkAnswers}, changed_at from changed
        ), event as (
          ${recordEvent("park", parking, { why: reason, detail: evidence })}
        )
        select key from changed`.execute(ledger);
      return rows.length === 1 ? done : undefined;
    },
    async () => {
      const operation = await read(ledger, key);
      return operation?.state === "parked" && operation.epoch === epoch ? done : undefined;
    },
  );
  return result ?? stale;
}
