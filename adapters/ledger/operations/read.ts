import { sql } from "kysely";

import type { OperationSnapshot } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { fixedStatement } from "../fixed-statement.js";
import { withRetry } from "../retryable.js";
import { snapshotColumns, toSnapshot, type SnapshotRow } from "./snapshot.js";

/**
 * What is known about an operation; `null` when the key is new.
 *
 * ```sql
 * select … from operations o join operation_tries t on t.key = o.key and t.number = o.try_number where o.key = $1
 * ```
 */
export async function read(ledger: Ledger, key: string): Promise<OperationSnapshot | null> {
  const rows = await withRetry(() => select(ledger, { key }), { readBack: "repeatable" });
  return rows[0] === undefined ? null : toSnapshot(rows[0]);
}

const select = fixedStatement(
  { key: "text" },
  ({ key }) => sql<SnapshotRow>`
    select ${snapshotColumns}
    from operations o join operation_tries t on t.key = o.key and t.number = o.try_number
    where o.key = ${key}`,
);
