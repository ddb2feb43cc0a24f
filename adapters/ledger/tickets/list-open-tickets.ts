import { sql, type Selectable } from "kysely";

import type { Ledger } from "../database.js";
import type { TicketTable } from "./tables.js";

export interface OpenTicketQuery {
  /** Default: every tenant. */
  readonly tenant?: string;
  /** Only those whose deadline passed longer ago than this; their workflow did not move. Default: all open ones. */
  readonly overdueMs?: number;
  readonly limit: number;
}

/**
 * Open tickets, those with the nearest deadline first.
 *
 * ```sql
 * select * from tickets where state = 'open' [and tenant = $1] [and deadline_at < ledger_now() - $2]
 *   order by deadline_at, ticket_id limit $3
 * ```
 */
export async function listOpenTickets(
  ledger: Ledger,
  { tenant, overdueMs, limit }: OpenTicketQuery,
): Promise<readonly Selectable<TicketTable>[]> {
  return ledger
    .selectFrom("tickets")
    .selectAll()
    .where("state", "=", "open")
    .$if(tenant !== undefined, (query) => query.where("tenant", "=", tenant ?? ""))
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
