import { sql, type RawBuilder } from "kysely";

import type { Claim, OperationSnapshot, Owner, Stale } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { fixedStatement } from "../fixed-statement.js";
import { read } from "./read.js";
import { snapshotColumns, toSnapshot, type SnapshotRow } from "./snapshot.js";
import { inStateBefore, once, recordEvent, stale } from "./statement.js";

type Submitted =
  { readonly result: "submitting"; readonly operation: OperationSnapshot } | { readonly result: "fenced" };

/**
 * `intended`, `unknown` or `submitting` → `submitting`, before every send.
 *
 * The owner's generation is read `for share` in the same transaction. A condition alone would read the generation as
 * it was when the statement began, and a fence that runs at the same time would list nothing while this one goes
 * ahead. With the lock either this is first, and the fence waits and then sees the operation open; or the fence is
 * first, and this waits and then finds another generation.
 *
 * ```sql
 * with owner as (select … from generations where owner_id = $1 and generation = $2 and state <> 'fenced' for share),
 *      changed as (update operations set state = 'submitting', submitted_at = ledger_now() …
 *                  where key = $3 and epoch = $4 and exists (select from owner) returning *), …
 * ```
 */
export async function submit(
  ledger: Ledger,
  claim: Claim & { readonly owner: Owner | null },
): Promise<Submitted | Stale> {
  const result = await once<Submitted>(
    async () => {
      const row = await write(ledger, claim);
      return row === undefined
        ? undefined
        : row.key === null
          ? { result: "fenced" }
          : { result: "submitting", operation: toSnapshot(row) };
    },
    async () => {
      const operation = await read(ledger, claim.key);
      // An entrant submits once under its epoch, so this can only be its own.
      return operation?.state === "submitting" && operation.submitted?.epoch === claim.epoch
        ? { result: "submitting", operation }
        : undefined;
    },
  );
  return result ?? stale;
}

/** One row when a submission is allowed, with the owner's row held against a fence until the transaction ends. */
export function ownerThatAllows(owner: {
  readonly ownerId: RawBuilder<string | null>;
  readonly generation: RawBuilder<number | null>;
}): RawBuilder<unknown> {
  return sql`select 1 from generations
             where owner_id = ${owner.ownerId} and generation = ${owner.generation} and state <> 'fenced' for share`;
}

/** One row with the operation, one row of nulls when the owner is fenced, or none when stale. */
type Answered = SnapshotRow | { readonly key: null };

async function write(
  ledger: Ledger,
  claim: Claim & { readonly owner: Owner | null },
): Promise<Answered | undefined> {
  const { key, epoch, owner, attempt, worker } = claim;
  const rows = await (owner === null ? statements.unowned : statements.owned)(ledger, {
    key,
    epoch,
    ownerId: owner?.id ?? null,
    generation: owner?.generation ?? null,
    attempt,
    worker,
  });
  return rows[0];
}

/** Most operations have no owner, and no generation to lock; so there are two texts. */
const statements = { owned: statement(true), unowned: statement(false) };

function statement(isOwned: boolean) {
  return fixedStatement(
    {
      key: "text",
      epoch: "integer",
      ownerId: "text?",
      generation: "integer?",
      attempt: "integer",
      worker: "text",
    },
    (given) => sql<Answered>`
      with owner as materialized (
        ${isOwned ? ownerThatAllows(given) : sql`select 1`}
      ), moment as materialized (
        select ledger_now() as at
      ), changed as (
        update operations o
        set state = 'submitting', submitted_at = moment.at, submitted_epoch = o.epoch,
            uncertain_since = coalesce(o.uncertain_since, moment.at),
            owner_id = ${given.ownerId}, generation = ${given.generation}, changed_at = moment.at
        from moment
        where o.key = ${given.key} and o.epoch = ${given.epoch} and ${inStateBefore("submit")}
          and exists (select from owner)
        returning o.*
      ), sent as (
        update operation_tries t set first_submitted_at = coalesce(t.first_submitted_at, changed.submitted_at)
        from changed where t.key = changed.key and t.number = changed.try_number
        returning t.*
      ), event as (
        ${recordEvent("submit", given, { why: sql.lit("about to send") })}
      )
      select ${snapshotColumns}
      from (select where not exists (select from owner) or exists (select from changed)) as answered
      left join changed o on true left join sent t on true`,
  );
}
