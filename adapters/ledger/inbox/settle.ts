import { sql } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";
import { storableJson } from "../json.js";
import type { Lease, LeaseResult } from "../lease.js";

/**
 * Ends a claimed event: `done` with the proof that its consequence happened (for a revision, a receipt of at least
 * its revision), or `ignored` with the reason why it can have none.
 *
 * ```sql
 * update inbox set state = $5, consequence = $6, settled_at = ledger_now(), owner = null, leased_until = null
 *   where source = $1 and event_id = $2 and state = 'received' and owner = $3 and claims = $4
 * ```
 */
export async function settleEvent(
  ledger: Ledger,
  settlement: Lease & {
    readonly source: string;
    readonly eventId: string;
    readonly as: "done" | "ignored";
    readonly consequence: JsonValue;
  },
): Promise<LeaseResult> {
  const { numUpdatedRows } = await ledger
    .updateTable("inbox")
    .set({
      state: settlement.as,
      consequence: storableJson("consequence", settlement.consequence),
      settled_at: sql<Date>`ledger_now()`,
      owner: null,
      leased_until: null,
    })
    .where("source", "=", settlement.source)
    .where("event_id", "=", settlement.eventId)
    .where("state", "=", "received")
    .where("owner", "=", settlement.owner)
    .where("claims", "=", settlement.claim)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 0n ? "stale" : "done";
}
