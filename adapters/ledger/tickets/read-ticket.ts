import type { Selectable } from "kysely";

import type { Ledger } from "../database.js";
import type { TicketTable } from "./tables.js";

/**
 * One ticket as it stands, without lock: for people to look at, not to decide by.
 *
 * ```sql
 * select * from tickets where ticket_id = $1
 * ```
 */
export async function readTicket(
  ledger: Ledger,
  ticketId: string,
): Promise<Selectable<TicketTable> | undefined> {
  return ledger.selectFrom("tickets").selectAll().where("ticket_id", "=", ticketId).executeTakeFirst();
}
