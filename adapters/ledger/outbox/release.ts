import { sql } from "kysely";

import type { Ledger } from "../database.js";
import type { Lease, LeaseResult } from "../lease.js";

/**
 * Gives a claimed message back after a failed try, to be claimed again after `retryAfterMs`. Later messages of its
 * ordering key wait with it.
 *
 * ```sql
 * update outbox set last_error = $4, available_at = ledger_now() + $5, owner = null, leased_until = null
 *   where id = $1 and state = 'pending' and owner = $2 and claims = $3
 *   returning message_key
 * ```
 */
export async function releaseOutbox(
  ledger: Ledger,
  settlement: Lease & { readonly id: number; readonly error: string; readonly retryAfterMs: number },
): Promise<LeaseResult> {
  const released = await ledger
    .updateTable("outbox")
    .set({
      last_error: settlement.error,
      available_at: sql<Date>`ledger_now() + ${settlement.retryAfterMs}::float8 * interval '1 millisecond'`,
      owner: null,
      leased_until: null,
    })
    .where("id", "=", settlement.id)
    .where("state", "=", "pending")
    .where("owner", "=", settlement.owner)
    .where("claims", "=", settlement.claim)
    // For whoever watches the statements: which message it was, and not only its number.
    .returning("message_key")
    .executeTakeFirst();
  return released === undefined ? "stale" : "done";
}
