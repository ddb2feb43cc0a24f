import { sql } from "kysely";

import type { Owner } from "../../../activities/operation/journal.js";
import type { OperationState } from "../../../activities/operation/states.js";
import type { LedgerTransaction } from "../database.js";
import type { GenerationTable } from "../operations/tables.js";

/** An operation of the owner whose effect is or may be on its way, or may be there without a receipt. */
export interface OpenSubmission {
  readonly key: string;
  readonly state: OperationState;
  readonly generation: number;
}

export type FenceResult =
  | { readonly result: "fenced"; readonly generation: number; readonly open: readonly OpenSubmission[] }
  /** The generation was activated, so there is nothing to clean up. */
  | { readonly result: "activated" }
  /** There is no such owner, or a newer generation. */
  | { readonly result: "stale" };

/**
 * Ends a generation: from here on nothing is submitted for it, and what was submitted is listed.
 *
 * The row lock comes first and in a statement of its own. It waits for every submission that holds the row's share
 * lock, and since a transaction that reads committed data looks anew with each statement, the list that follows sees
 * them. Takes a transaction, so that the caller can store what it will do about the list with it.
 *
 * ```sql
 * select … from generations where owner_id = $1 for update;
 * update generations set state = 'fenced' … ;
 * select … from operations where owner_id = $1 and state in ('submitting', 'unknown', 'accepted', 'parked')
 * ```
 *
 * Fencing again gives the list anew.
 */
export async function fence(transaction: LedgerTransaction, owner: Owner): Promise<FenceResult> {
  const held = await lock(transaction, owner.id);
  if (held === undefined || held.generation !== owner.generation) {
    return { result: "stale" };
  }
  if (held.state === "activated") {
    return { result: "activated" };
  }
  await sql`update generations set state = 'fenced', changed_at = ledger_now()
            where owner_id = ${owner.id} and state <> 'fenced'`.execute(transaction);
  return {
    result: "fenced",
    generation: held.generation,
    open: await openSubmissions(transaction, owner.id),
  };
}

/**
 * Begins the owner's next generation, `provisioning`, and lists what older ones have open. Whatever state the owner was
 * in, nothing is submitted for an older generation from here on.
 *
 * @returns `stale` when the current generation isn't the given one, so that two callers don't both begin one.
 */
export async function renew(
  transaction: LedgerTransaction,
  owner: Owner,
): Promise<
  | { readonly result: "renewed"; readonly generation: number; readonly open: readonly OpenSubmission[] }
  | { readonly result: "stale" }
> {
  const held = await lock(transaction, owner.id);
  if (held === undefined || held.generation !== owner.generation) {
    return { result: "stale" };
  }
  const generation = held.generation + 1;
  await sql`update generations set generation = ${generation}, state = 'provisioning', changed_at = ledger_now()
            where owner_id = ${owner.id}`.execute(transaction);
  return { result: "renewed", generation, open: await openSubmissions(transaction, owner.id) };
}

async function lock(
  transaction: LedgerTransaction,
  ownerId: string,
): Promise<Pick<GenerationTable, "generation" | "state"> | undefined> {
  return transaction
    .selectFrom("generations")
    .select(["generation", "state"])
    .where("owner_id", "=", ownerId)
    .forUpdate()
    .executeTakeFirst();
}

async function openSubmissions(
  transaction: LedgerTransaction,
  ownerId: string,
): Promise<readonly OpenSubmission[]> {
  const rows = await transaction
    .selectFrom("operations")
    .select(["key", "state", "generation"])
    .where("owner_id", "=", ownerId)
    .where("state", "in", ["submitting", "unknown", "accepted", "parked"])
    .orderBy("key")
    .execute();
  return rows.map(({ key, state, generation }) => ({ key, state, generation: generation! }));
}
