import { sql } from "kysely";

import type { Ledger } from "../database.js";
import type { Lease } from "../lease.js";
import type { OutboxMessage } from "./message.js";

export interface ClaimedMessage extends Lease {
  readonly id: number;
  readonly messageKey: string;
  readonly orderingKey: string;
  readonly message: OutboxMessage;
  /** Since it was written, by the ledger's clock: for receivers that remember a key for a limited time. */
  readonly ageMs: number;
}

export interface OutboxClaim {
  readonly owner: string;
  /**
   * Must be longer than the longest send: a lease that runs out under a sender lets a second one send the same
   * message. Receivers bear that, as each message has a key; still the wrong side to err on.
   */
  readonly leaseMs: number;
  readonly limit: number;
}

/**
 * Claims messages to send: the first unsent one of each ordering key that isn't waiting for its back-off or leased
 * to a live dispatcher. A message is never claimed while an earlier one of its key is unsent, so order holds with
 * any number of dispatchers. One whose lease ran out is claimed anew.
 *
 * ```sql
 * with next as materialized (
 *   select id from outbox as message
 *    where state = 'pending' and available_at <= ledger_now()
 *      and (leased_until is null or leased_until <= ledger_now())
 *      and not exists (select from outbox as earlier where earlier.state = 'pending'
 *                       and earlier.ordering_key = message.ordering_key and earlier.id < message.id)
 *    order by id limit $3 for update skip locked)
 * update outbox set owner = $1, leased_until = ledger_now() + $2, claims = claims + 1
 *   from next where outbox.id = next.id
 * returning …
 * ```
 *
 * There is no cursor: an id is given before its transaction commits, so a lower one can become visible later.
 * `materialized` makes the selection run once; as a subquery it could be planned to run again for each row.
 */
export async function claimOutbox(ledger: Ledger, claim: OutboxClaim): Promise<readonly ClaimedMessage[]> {
  const { rows } = await sql<{
    id: number;
    message_key: string;
    ordering_key: string;
    body: OutboxMessage;
    claims: number;
    age_ms: number;
  }>`
    with next as materialized (
      select id from outbox as message
       where state = 'pending' and available_at <= ledger_now()
         and (leased_until is null or leased_until <= ledger_now())
         and not exists (select from outbox as earlier
                          where earlier.state = 'pending' and earlier.ordering_key = message.ordering_key
                            and earlier.id < message.id)
       order by id limit ${claim.limit} for update skip locked)
    update outbox set owner = ${claim.owner},
                      leased_until = ledger_now() + ${claim.leaseMs}::float8 * interval '1 millisecond',
                      claims = claims + 1
      from next where outbox.id = next.id
    returning outbox.id, message_key, ordering_key, body, claims,
              (extract(epoch from ledger_now() - enqueued_at) * 1000)::bigint as age_ms`.execute(ledger);
  return rows
    .sort((one, other) => one.id - other.id)
    .map((row) => ({
      id: row.id,
      messageKey: row.message_key,
      orderingKey: row.ordering_key,
      message: row.body,
      owner: claim.owner,
      claim: row.claims,
      ageMs: row.age_ms,
    }));
}
