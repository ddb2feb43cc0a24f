import type { Selectable } from "kysely";

import type { Ledger } from "../database.js";
import type { RequestTable } from "./tables.js";

/**
 * One admitted request, as it stands.
 *
 * ```sql
 * select * from requests where request_id = $1
 * ```
 */
export async function readRequest(
  ledger: Ledger,
  requestId: string,
): Promise<Selectable<RequestTable> | undefined> {
  return ledger.selectFrom("requests").selectAll().where("request_id", "=", requestId).executeTakeFirst();
}
