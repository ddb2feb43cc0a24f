import { sql } from "kysely";

import type { Claim, Refusal, Stale } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { prepared } from "../prepared-statements.js";
import { read } from "./read.js";
import { inStateBefore, once, recordEvent, stale } from "./statement.js";

/**
 * `submitting` → `refused`, by the current epoch only.
 *
 * ```sql
 * update operations set state = 'refused' … where key = $1 and epoch = $2 and state = 'submitting'
 * ```
 */
export async function refuse(
  ledger: Ledger,
  claim: Claim & Refusal,
): Promise<{ readonly result: "refused" } | Stale> {
  const { key, epoch, code, detail } = claim;
  const done = { result: "refused" } as const;
  const result = await once(
    async () => {
      const { rows } = await sql`${prepared}
        with changed as (
          update operations o
          set state = 'refused', refusal_code = ${code}, refusal_detail = ${detail}, changed_at = ledger_now()
          where o.key = ${key} and o.epoch = ${epoch} and ${inStateBefore("refuse")}
          returning o.*
        ), event as (
          ${recordEvent("refuse", claim, { why: code, detail: { code, detail } })}
        )
        select key from changed`.execute(ledger);
      return rows.length === 1 ? done : undefined;
    },
    async () => {
      const operation = await read(ledger, key);
      return operation?.state === "refused" && operation.epoch === epoch ? done : undefined;
    },
  );
  return result ?? stale;
}
