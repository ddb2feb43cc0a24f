import type { Selectable } from "kysely";

import type { Ledger } from "../database.js";
import type { OperationEventTable } from "./tables.js";

/** Everything that happened to an operation, in order. */
export async function listEvents(
  ledger: Ledger,
  key: string,
): Promise<readonly Selectable<OperationEventTable>[]> {
  return ledger.selectFrom("operation_events").selectAll().where("key", "=", key).orderBy("id").execute();
}
