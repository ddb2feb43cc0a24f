import { sql, type Selectable } from "kysely";

import type { LedgerTransaction } from "../database.js";
import type { TicketTable } from "./tables.js";

/** A ticket that nobody else can change until the transaction ends. */
export type LockedTicket = Selectable<TicketTable> & {
  /** By `ledger_now()`, asked after the lock was got. */
  readonly deadlinePassed: boolean;
  /** Until the deadline, by the same clock; 0 when it has passed. */
  readonly remainingMs: number;
};

/**
 * Locks a ticket, and then asks the ledger's clock whether its deadline has passed.
 *
 * ```sql
 * select * from tickets where ticket_id = $1 for update;
 * select $2 <= ledger_now(), …;
 * ```
 *
 * These are two statements on purpose. In one, the server would read the clock *before* it waits for the lock, and
 * who waited until after the deadline would still be in time.
 *
 * @returns `undefined` when there is no such ticket.
 */
export async function lockTicket(
  transaction: LedgerTransaction,
  ticketId: string,
): Promise<LockedTicket | undefined> {
  const ticket = await transaction
    .selectFrom("tickets")
    .selectAll()
    .where("ticket_id", "=", ticketId)
    .forUpdate()
    .executeTakeFirst();
  if (ticket === undefined) {
    return undefined;
  }
  // The stored deadline is compared, not the one that was read: a Date is cut to milliseconds.
  const { passed, remaining_ms } = await transaction
    .selectFrom("tickets")
    .select([
      sql<boolean>`deadline_at <= ledger_now()`.as("passed"),
      sql<number>`ceil(extract(epoch from deadline_at - ledger_now()) * 1000)::bigint`.as("remaining_ms"),
    ])
    .where("ticket_id", "=", ticketId)
    .executeTakeFirstOrThrow();
  // Two clock readings: a deadline between them is "not passed" with nothing remaining, and one millisecond is asked for.
  return { ...ticket, deadlinePassed: passed, remainingMs: passed ? 0 : Math.max(remaining_ms, 1) };
}
