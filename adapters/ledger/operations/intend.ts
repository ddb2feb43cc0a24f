import { sql } from "kysely";

import type { Intention, OperationSnapshot } from "../../../activities/operation/journal.js";
import { providerKeyOf } from "../../../activities/operation/keys.js";
import type { Ledger } from "../database.js";
import { fixedStatement } from "../fixed-statement.js";
import { withRetry } from "../retryable.js";
import { read } from "./read.js";
import { ownerThatAllows } from "./submit.js";
import { recordEvent } from "./statement.js";

/**
 * none → `intended`, or with `andSubmit` → `submitting` under the guard of `submit`, or what is there already.
 *
 * Only when the insert made nothing is the row read, in a statement of its own: that is the rarer case, and a look at
 * what is there in the same statement cost each new operation its share. The insert has waited for a rival's commit,
 * so the row is there then.
 *
 * A lost answer is repaired by repeating: the row is then found as if a rival had made it, and taken over.
 *
 * ```sql
 * with changed as (insert into operations (…) select $1, … on conflict (key) do nothing returning *),
 *      opened as (insert into operation_tries (…) select … from changed),
 *      event as (insert into operation_events (…) select … from changed)
 * select … from changed
 * ```
 */
export async function intend(
  ledger: Ledger,
  intention: Intention,
): Promise<{ readonly fresh: boolean; readonly operation: OperationSnapshot }> {
  return withRetry(
    async () => {
      const row = await insert(ledger, intention);
      if (row !== undefined) {
        return { fresh: true, operation: freshSnapshot(intention, row) };
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

async function insert(ledger: Ledger, intention: Intention): Promise<FreshRow | undefined> {
  const { key, provider, fingerprint, repair, owner, andSubmit, attempt, worker } = intention;
  const rows = await (owner === null ? write.unowned : write.owned)(ledger, {
    andSubmit,
    key,
    provider,
    ownerId: owner?.id ?? null,
    generation: owner?.generation ?? null,
    providerKey: providerKeyOf(key, 1),
    digest: fingerprint.digest,
    projectionVersion: fingerprint.version,
    repair,
    attempt,
    worker,
  });
  return rows[0];
}

/** Most operations have no owner, and no generation to lock; so there are two texts. */
const write = { owned: statement(true), unowned: statement(false) };

function statement(isOwned: boolean) {
  return fixedStatement(
    {
      andSubmit: "boolean",
      key: "text",
      provider: "text",
      ownerId: "text?",
      generation: "integer?",
      providerKey: "text",
      digest: "text",
      projectionVersion: "integer",
      repair: "integer",
      attempt: "integer",
      worker: "text",
    },
    (given) => sql<FreshRow>`
      with ${isOwned ? sql`owner as materialized (${ownerThatAllows(given)}),` : sql``} changed as (
        insert into operations (key, provider, state, epoch, try_number, owner_id, generation, submitted_at,
                                submitted_epoch, uncertain_since, created_at, changed_at)
        select ${given.key}, ${given.provider}, case when submitted_at is null then 'intended' else 'submitting' end,
               1, 1, ${given.ownerId}, ${given.generation}, submitted_at,
               case when submitted_at is not null then 1 end, submitted_at, at, at
        from (select at, case when ${given.andSubmit} ${isOwned ? sql`and exists (select from owner)` : sql``}
                         then at end as submitted_at
              from (select ledger_now() as at) as clock) as moment
        on conflict (key) do nothing
        returning key, state, epoch, try_number, created_at, submitted_at
      ), opened as (
        insert into operation_tries
          (key, number, provider_key, fingerprint, projection_version, repair, opened_for, opened_at,
           first_submitted_at)
        select key, try_number, ${given.providerKey}, ${given.digest}, ${given.projectionVersion}, ${given.repair},
               'first', created_at, submitted_at
        from changed
      ), event as (
        ${recordEvent("intend", given, {
          why: sql`case when ${given.andSubmit} then 'asked for, and about to send' else 'asked for' end`,
        })}
      )
      select state, date_part('epoch', created_at) * 1000 as at_ms from changed`,
  );
}

/** All that isn't known already of an operation that was made just now. */
interface FreshRow {
  readonly state: "intended" | "submitting";
  readonly at_ms: number;
}

/** What the row holds that was inserted, without reading all of it back. */
function freshSnapshot(intention: Intention, { state, at_ms: at }: FreshRow): OperationSnapshot {
  const { key, fingerprint, repair, owner } = intention;
  const sentAt = state === "submitting" ? at : null;
  return {
    key,
    state,
    epoch: 1,
    try: {
      number: 1,
      providerKey: providerKeyOf(key, 1),
      fingerprint,
      repair,
      openedFor: "first",
      firstSubmittedAt: sentAt,
    },
    submitted: sentAt === null ? null : { at: sentAt, epoch: 1 },
    uncertainSince: sentAt,
    owner,
    receipt: null,
    outcome: null,
    accepted: null,
    refusal: null,
    parkedFor: null,
    now: at,
  };
}
