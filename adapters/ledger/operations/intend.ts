import { sql } from "kysely";

import type { Intention, OperationSnapshot } from "../../../activities/operation/journal.js";
import { providerKeyOf } from "../../../activities/operation/keys.js";
import type { Ledger } from "../database.js";
import { prepared } from "../prepared-statements.js";
import { withRetry } from "../retryable.js";
import { read } from "./read.js";
import { ownerThatAllows } from "./submit.js";
import { snapshotColumns, toSnapshot, type SnapshotRow } from "./snapshot.js";
import { recordEvent } from "./statement.js";

/**
 * none → `intended`, or with `andSubmit` → `submitting` under the guard of `submit`, or what is there already.
 *
 * The insert and the look at what is there are one statement. A rival that inserts between the statement's snapshot
 * and its insert makes both empty; then the row is there, and is read.
 *
 * A lost answer is repaired by repeating: the row is then found as if a rival had made it, and taken over.
 *
 * ```sql
 * with changed as (insert into operations (…) select $1, … on conflict (key) do nothing returning *),
 *      opened as (insert into operation_tries (…) select … from changed returning *),
 *      event as (insert into operation_events (…) select … from changed)
 * select true as fresh, … from changed join opened union all select false, … where key = $1
 * ```
 */
export async function intend(
  ledger: Ledger,
  intention: Intention,
): Promise<{ readonly fresh: boolean; readonly operation: OperationSnapshot }> {
  return withRetry(
    async () => {
      const row = await insertOrLook(ledger, intention);
      if (row !== undefined) {
        return { fresh: row.fresh, operation: toSnapshot(row) };
      }
      const operation = await read(ledger, intention.key);
      if (operation === null) {
        throw new Error(`${intention.key}: neither inserted nor there; operations are never removed.`);
      }
      return { fresh: false, operation };
    },
    { readBack: "repeatable" },
  );
}

async function insertOrLook(
  ledger: Ledger,
  intention: Intention,
): Promise<(SnapshotRow & { readonly fresh: boolean }) | undefined> {
  const { key, provider, fingerprint, repair, owner, andSubmit } = intention;
  const { rows } = await sql<SnapshotRow & { readonly fresh: boolean }>`${prepared}
    with owner as materialized (
      ${ownerThatAllows(owner)}
    ), moment as materialized (
      select at, case when ${andSubmit}::boolean and exists (select from owner) then at end as submitted_at
      from (select ledger_now() as at) as clock
    ), changed as (
      insert into operations (key, provider, state, epoch, try_number, owner_id, generation, submitted_at,
                              submitted_epoch, uncertain_since, created_at, changed_at)
      select ${key}, ${provider}, case when submitted_at is null then 'intended' else 'submitting' end, 1, 1,
             ${owner?.id ?? null}::text, ${owner?.generation ?? null}::integer, submitted_at,
             case when submitted_at is not null then 1 end, submitted_at, at, at
      from moment
      on conflict (key) do nothing
      returning *
    ), opened as (
      insert into operation_tries
        (key, number, provider_key, fingerprint, projection_version, repair, opened_for, opened_at,
         first_submitted_at)
      select key, 1, ${providerKeyOf(key, 1)}::text, ${fingerprint.digest}::text, ${fingerprint.version}::integer,
             ${repair}::integer, 'first', created_at, submitted_at
      from changed
      returning *
    ), event as (
      ${recordEvent("intend", intention, { why: andSubmit ? "asked for, and about to send" : "asked for" })}
    )
    select true as fresh, ${snapshotColumns} from changed o join opened t on t.key = o.key
    union all
    select false as fresh, ${snapshotColumns}
    from operations o join operation_tries t on t.key = o.key and t.number = o.try_number
    where o.key = ${key}`.execute(ledger);
  return rows[0];
}
