import type { OverdueTickets } from "../../../activities/sweeps/ports.js";
import type { Ledger } from "../database.js";
import { listOpenTickets } from "../tickets/list-open-tickets.js";
import { resolveTicket } from "../tickets/resolve-ticket.js";

/** SQL: see `listOpenTickets`, and `resolveTicket` for each. */
export function createOverdueTickets(ledger: Ledger): OverdueTickets {
  return {
    expire: async ({ overdueMs, limit }) => {
      const overdue = await listOpenTickets(ledger, { overdueMs, limit });
      for (const { ticket_id } of overdue) {
        await ledger.transaction().execute((transaction) => resolveTicket(transaction, ticket_id));
      }
      return overdue.length;
    },
  };
}
