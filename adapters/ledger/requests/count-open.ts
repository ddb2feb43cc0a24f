import { sql } from "kysely";

import type { LedgerTransaction } from "../database.js";

/**
 * Counts a tenant's open requests of a kind, and holds off every other count of the same until this transaction
 * ends. Two admissions that each counted at the same time would both see one place free.
 *
 * ```sql
 * select pg_advisory_xact_lock(hashtextextended($kind || ' ' || $tenant, 0));
 * select count(*) from requests where kind = $1 and tenant = $2 and state not in ('completed', 'failed');
 * ```
 *
 * Called after `admit` in its transaction, it counts the new request too; above the limit the caller rolls back.
 */
export async function countOpen(
  transaction: LedgerTransaction,
  { kind, tenant }: { readonly kind: string; readonly tenant: string },
): Promise<number> {
  const lock = JSON.stringify(["requests open", kind, tenant]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(transaction);
  const { open } = await transaction
    .selectFrom("requests")
    .select((expression) => expression.fn.countAll<number>().as("open"))
    .where("kind", "=", kind)
    .where("tenant", "=", tenant)
    .where("state", "not in", ["completed", "failed"])
    .executeTakeFirstOrThrow();
  return open;
}
