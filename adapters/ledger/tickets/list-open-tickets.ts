import { sql, type Selectable } from "kysely";

import type { Ledger } from "../database.js";
import type { TicketTable } from "./tables.js";

export interface OpenTicketQuery {
  /** Default: every tenant. */
  readonly tenant?: string;
  /** Default: every kind. */
  readonly kind?: string;
  /** Only those whose deadline passed longer ago than this; their workflow did not move. Default: all open ones. */
  readonly overdueMs?: number;
  /**
   * Only those behind this ticket, for the next page. Its place stands also after it was closed, as tickets stay and
   * their deadlines never change. An id that is no ticket's has nothing behind it.
   */
  readonly afterTicketId?: string;
  readonly limit: number;
}

/**
 * Open tickets, those with the nearest deadline first.
 *
 * ```sql
 * select * from tickets where state = 'open' [and tenant = $1] [and kind = $2] [and deadline_at < ledger_now() - $3]
 *   [and (deadline_at, ticket_id) > (select deadline_at, ticket_id from tickets where ticket_id = $4)]
 *   order by deadline_at, ticket_id limit $5
 * ```
 */
export async function listOpenTickets(
  ledger: Ledger,
  { tenant, kind, overdueMs, afterTicketId, limit }: OpenTicketQuery,
): Promise<readonly Selectable<TicketTable>[]> {
  return ledger
    .selectFrom("tickets")
    .selectAll()
    .where("state", "=", "open")
    .$if(tenant !== undefined, (query) => query.where("tenant", "=", tenant ?? ""))
    .$if(kind !== undefined, (query) => query.where("kind", "=", kind ?? ""))
    .$if(afterTicketId !== undefined, (query) =>
      query.where(
        sql<boolean>`(deadline_at, ticket_id) >
          (select before.deadline_at, before.ticket_id from tickets as before where before.ticket_id = ${afterTicketId})`,
      ),
    )
    .$if(overdueMs !== undefined, (query) =>
      query.where(
        "deadline_at",
        "<",
        sql<Date>`ledger_now() - ${overdueMs}::float8 * interval '1 millisecond'`,
      ),
    )
    .orderBy("deadline_at")
    .orderBy("ticket_id")
    .limit(limit)
    .execute();
}
