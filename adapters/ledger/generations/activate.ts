import { sql } from "kysely";

import type { Owner } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { withRetry } from "../retryable.js";

/**
 * `provisioning` → `activated`, as one compare-and-set: activation and clean-up exclude each other. Again gives the
 * same result.
 *
 * ```sql
 * update generations set state = 'activated' where owner_id = $1 and generation = $2 and state <> 'fenced'
 * ```
 *
 * @returns `stale` when the generation was fenced or is not the current one.
 */
export async function activate(
  ledger: Ledger,
  owner: Owner,
): Promise<{ readonly result: "activated" | "stale" }> {
  const { rows } = await withRetry(
    () =>
      sql`update generations set state = 'activated', changed_at = ledger_now()
          where owner_id = ${owner.id} and generation = ${owner.generation} and state <> 'fenced'
          returning owner_id`.execute(ledger),
    { readBack: "repeatable" },
  );
  return { result: rows.length === 1 ? "activated" : "stale" };
}
