import { sql } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";
import type { Lease } from "../lease.js";

export interface ClaimedEvent extends Lease {
  readonly source: string;
  readonly eventId: string;
  readonly subject: string;
  readonly body: JsonValue;
}

/**
 * Claims received events of a source whose consequence isn't confirmed, oldest first. One whose lease ran out is
 * claimed anew. Events have no order among each other: a consequence must not depend on one.
 *
 * ```sql
 * with next as materialized (
 *   select source, event_id from inbox
 *    where source = $4 and state = 'received' and available_at <= ledger_now()
 *      and (leased_until is null or leased_until <= ledger_now())
 *    order by received_at, event_id limit $3 for update skip locked)
 * update inbox set owner = $1, leased_until = ledger_now() + $2, claims = claims + 1
 *   from next where (inbox.source, inbox.event_id) = (next.source, next.event_id)
 * returning …
 * ```
 */
export async function claimInbox(
  ledger: Ledger,
  claim: {
    readonly owner: string;
    readonly source: string;
    readonly leaseMs: number;
    readonly limit: number;
  },
): Promise<readonly ClaimedEvent[]> {
  const { rows } = await sql<{
    source: string;
    event_id: string;
    subject: string;
    body: JsonValue;
    claims: number;
    received_at: Date;
  }>`
    with next as materialized (
      select source, event_id from inbox
       where source = ${claim.source} and state = 'received' and available_at <= ledger_now()
         and (leased_until is null or leased_until <= ledger_now())
       order by received_at, event_id limit ${claim.limit} for update skip locked)
    update inbox set owner = ${claim.owner},
                     leased_until = ledger_now() + ${claim.leaseMs}::float8 * interval '1 millisecond',
                     claims = claims + 1
      from next where inbox.source = next.source and inbox.event_id = next.event_id
    returning inbox.source, inbox.event_id, subject, body, claims, received_at`.execute(ledger);
  return rows
    .sort((one, other) => one.received_at.getTime() - other.received_at.getTime())
    .map((row) => ({
      source: row.source,
      eventId: row.event_id,
      subject: row.subject,
      body: row.body,
      owner: claim.owner,
      claim: row.claims,
    }));
}
