import { sql } from "kysely";

import type { OperationSnapshot, Stale, TakeOver } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { prepared } from "../prepared-statements.js";
import { withRetry } from "../retryable.js";
import { snapshotColumns, toSnapshot, type SnapshotRow } from "./snapshot.js";
import { inStateBefore, recordEvent, stale } from "./statement.js";

/**
 * Raises the epoch, if the operation still is as it was read: of several entrants one goes on, and only on what is
 * still so.
 *
 * A lost answer makes the repetition `stale`: the entrant reads again and takes over from its own epoch. That costs
 * one wait; reading back instead couldn't tell its own take-over from a rival's, and two entrants at one epoch is the
 * one thing that must not be.
 *
 * ```sql
 * update operations set epoch = epoch + 1 where key = $1 and epoch = $2 and state = $3
 *   and submitted_epoch is not distinct from $4 and state in (…) returning *
 * ```
 */
export async function takeOver(
  ledger: Ledger,
  { seen, ...entrant }: TakeOver,
): Promise<{ readonly result: "taken"; readonly operation: OperationSnapshot } | Stale> {
  const { rows } = await withRetry(
    () =>
      sql<SnapshotRow>`${prepared}
        with changed as (
          update operations o set epoch = o.epoch + 1, changed_at = ledger_now()
          where o.key = ${entrant.key} and o.epoch = ${seen.epoch} and o.state = ${seen.state}
            and o.submitted_epoch is not distinct from ${seen.submitted?.epoch ?? null}::integer and ${inStateBefore("takeOver")}
          returning o.*
        ), event as (
          ${recordEvent("takeOver", entrant, { why: `took over from epoch ${seen.epoch}` })}
        )
        select ${snapshotColumns}
        from changed o join operation_tries t on t.key = o.key and t.number = o.try_number`.execute(ledger),
    { readBack: "repeatable" },
  );
  return rows[0] === undefined ? stale : { result: "taken", operation: toSnapshot(rows[0]) };
}
