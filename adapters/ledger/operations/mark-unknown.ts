import { sql } from "kysely";

import type { Claim, Stale } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { prepared } from "../prepared-statements.js";
import { read } from "./read.js";
import { inStateBefore, once, recordEvent, stale } from "./statement.js";

/**
 * `submitting` → `unknown`, by the current epoch only: a zombie's time-out says nothing.
 *
 * ```sql
 * update operations set state = 'unknown' where key = $1 and epoch = $2 and state = 'submitting'
 * ```
 */
export async function markUnknown(
  ledger: Ledger,
  claim: Claim & { readonly cause: string },
): Promise<{ readonly result: "unknown" } | Stale> {
  const done = { result: "unknown" } as const;
  const result = await once(
    async () => {
      const { rows } = await sql`${prepared}
        with changed as (
          update operations o set state = 'unknown', changed_at = ledger_now()
          where o.key = ${claim.key} and o.epoch = ${claim.epoch} and ${inStateBefore("markUnknown")}
          returning o.*
        ), event as (
          ${recordEvent("markUnknown", claim, { why: claim.cause })}
        )
        select key from changed`.execute(ledger);
      return rows.length === 1 ? done : undefined;
    },
    async () => {
      const operation = await read(ledger, claim.key);
      return operation?.state === "unknown" && operation.epoch === claim.epoch ? done : undefined;
    },
  );
  return result ?? stale;
}
