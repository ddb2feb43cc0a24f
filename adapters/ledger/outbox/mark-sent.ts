import { sql } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";
import { storableJson } from "../json.js";
import type { Lease, LeaseResult } from "../lease.js";

/**
 * Settles a claimed message as sent, with what was answered. A dispatcher whose lease was claimed anew changes
 * nothing: the new owner sends again and settles.
 *
 * ```sql
 * update outbox set state = 'sent', outcome = $4, settled_at = ledger_now(), owner = null, leased_until = null
 *   where id = $1 and state = 'pending' and owner = $2 and claims = $3
 *   returning message_key
 * ```
 */
export async function markSent(
  ledger: Ledger,
  settlement: Lease & { readonly id: number; readonly outcome: JsonValue },
): Promise<LeaseResult> {
  const settled = await ledger
    .updateTable("outbox")
    .set({
      state: "sent",
      outcome: storableJson("outcome", settlement.outcome),
      settled_at: sql<Date>`ledger_now()`,
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
  return settled === undefined ? "stale" : "done";
}
