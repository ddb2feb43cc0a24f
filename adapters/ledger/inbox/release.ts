import { sql } from "kysely";

import type { Ledger } from "../database.js";
import type { Lease, LeaseResult } from "../lease.js";

/**
 * Gives a claimed event back, to be looked at again after `retryAfterMs`: it was passed on, but its consequence
 * isn't confirmed yet.
 *
 * ```sql
 * update inbox set available_at = ledger_now() + $5, owner = null, leased_until = null
 *   where source = $1 and event_id = $2 and state = 'received' and owner = $3 and claims = $4
 * ```
 */
export async function releaseEvent(
  ledger: Ledger,
  release: Lease & { readonly source: string; readonly eventId: string; readonly retryAfterMs: number },
): Promise<LeaseResult> {
  const { numUpdatedRows } = await ledger
    .updateTable("inbox")
    .set({
      available_at: sql<Date>`ledger_now() + ${release.retryAfterMs}::float8 * interval '1 millisecond'`,
      owner: null,
      leased_until: null,
    })
    .where("source", "=", release.source)
    .where("event_id", "=", release.eventId)
    .where("state", "=", "received")
    .where("owner", "=", release.owner)
    .where("claims", "=", release.claim)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 0n ? "stale" : "done";
}
