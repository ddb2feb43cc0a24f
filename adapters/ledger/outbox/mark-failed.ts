import { sql } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";
import { storableJson } from "../json.js";
import type { Lease, LeaseResult } from "../lease.js";

/**
 * Settles a claimed message as never to be sent, because no further try can change the answer: the workflow to be
 * woken is closed, the address is refused. The reason stays with the row, and the messages behind it go on.
 *
 * ```sql
 * update outbox set state = 'failed', last_error = $4, outcome = $5, settled_at = ledger_now(), owner = null, leased_until = null
 *   where id = $1 and state = 'pending' and owner = $2 and claims = $3
 *   returning message_key
 * ```
 */
export async function markFailed(
  ledger: Ledger,
  settlement: Lease & { readonly id: number; readonly reason: string; readonly outcome: JsonValue },
): Promise<LeaseResult> {
  const settled = await ledger
    .updateTable("outbox")
    .set({
      state: "failed",
      last_error: settlement.reason,
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
