import { sql } from "kysely";

import type { LedgerTransaction } from "../database.js";
import { enqueue } from "../outbox/enqueue.js";
import type { TicketState } from "./tables.js";

/** The signal that wakes the workflow of a ticket that ended. Its one argument is `TicketHint`. */
export const ticketHintSignal = "ticketClosed";

/** Says which ticket to look at, and nothing of how it ended: that stands in the ledger. */
export interface TicketHint {
  readonly ticketId: string;
}

/**
 * Ends an open ticket, and writes the hint to its workflow in the same transaction.
 *
 * ```sql
 * update tickets set state = $2, closed_at = ledger_now() where ticket_id = $1 and state = 'open';
 * insert into outbox … 'hint:<ticket>:closed' …;
 * ```
 *
 * @returns `stale` when the ticket had ended before; no hint is written then. It can't happen under `lockTicket`.
 */
export async function closeTicket(
  transaction: LedgerTransaction,
  ticket: { readonly ticket_id: string; readonly workflow_id: string },
  state: Exclude<TicketState, "open">,
): Promise<"closed" | "stale"> {
  const { numUpdatedRows } = await transaction
    .updateTable("tickets")
    .set({ state, closed_at: sql<Date>`ledger_now()` })
    .where("ticket_id", "=", ticket.ticket_id)
    .where("state", "=", "open")
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) {
    return "stale";
  }
  const hint = { ticketId: ticket.ticket_id } satisfies TicketHint;
  await enqueue(transaction, `hint:${ticket.ticket_id}:closed`, {
    kind: "signal",
    workflowId: ticket.workflow_id,
    signal: ticketHintSignal,
    args: [hint],
  });
  return "closed";
}
