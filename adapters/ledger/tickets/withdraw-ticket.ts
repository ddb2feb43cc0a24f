import type { LedgerTransaction } from "../database.js";
import { closeTicket } from "./close-ticket.js";
import { lockTicket } from "./lock-ticket.js";
import type { TicketState } from "./tables.js";

export type WithdrawResult =
  /** `withdrawn`, also by an earlier call, or the end that came first, which stands. */
  | { readonly outcome: "ended"; readonly state: Exclude<TicketState, "open"> }
  | { readonly outcome: "unknown-ticket" };

/**
 * Ends an open ticket because its process has ended without the decision. Under the ticket's lock, so a vote is either
 * counted before it or told that the ticket was withdrawn. Past the deadline the end is `expired`, as for everybody.
 *
 * ```sql
 * -- lockTicket, and closeTicket when it is open
 * ```
 */
export async function withdrawTicket(
  transaction: LedgerTransaction,
  ticketId: string,
): Promise<WithdrawResult> {
  const ticket = await lockTicket(transaction, ticketId);
  if (ticket === undefined) return { outcome: "unknown-ticket" };
  if (ticket.state !== "open") return { outcome: "ended", state: ticket.state };
  const state = ticket.deadlinePassed ? "expired" : "withdrawn";
  await closeTicket(transaction, ticket, state);
  return { outcome: "ended", state };
}
