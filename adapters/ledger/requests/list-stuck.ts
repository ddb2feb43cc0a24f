import { sql } from "kysely";

import type { Ledger } from "../database.js";
import type { RequestState } from "./tables.js";

export interface StuckRequest {
  readonly requestId: string;
  readonly kind: string;
  readonly tenant: string;
  readonly workflowId: string;
  readonly state: RequestState;
  readonly ageMs: number;
}

/**
 * Requests that stand in a state for longer than they should, oldest first: those `admitted` have no workflow yet.
 *
 * ```sql
 * select … from requests where state = $1 and state_changed_at < ledger_now() - $2 order by state_changed_at limit $3
 * ```
 */
export async function listStuckRequests(
  ledger: Ledger,
  query: { readonly state: RequestState; readonly olderThanMs: number; readonly limit: number },
): Promise<readonly StuckRequest[]> {
  const rows = await ledger
    .selectFrom("requests")
    .select([
      "request_id",
      "kind",
      "tenant",
      "workflow_id",
      "state",
      sql<number>`(extract(epoch from ledger_now() - state_changed_at) * 1000)::bigint`.as("age_ms"),
    ])
    .where("state", "=", query.state)
    .where(
      "state_changed_at",
      "<",
      sql<Date>`ledger_now() - ${query.olderThanMs}::float8 * interval '1 millisecond'`,
    )
    .orderBy("state_changed_at")
    .limit(query.limit)
    .execute();
  return rows.map((row) => ({
    requestId: row.request_id,
    kind: row.kind,
    tenant: row.tenant,
    workflowId: row.workflow_id,
    state: row.state,
    ageMs: row.age_ms,
  }));
}
