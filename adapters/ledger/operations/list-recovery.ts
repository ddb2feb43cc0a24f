import type { Selectable } from "kysely";

import type { Ledger } from "../database.js";
import type { RecoveryQueueTable } from "./tables.js";

/** Most questions given at once: a screen for a person, not an export. */
const listedMax = 500;

/** The open questions, the oldest first. */
export async function listRecovery(ledger: Ledger): Promise<readonly Selectable<RecoveryQueueTable>[]> {
  return ledger
    .selectFrom("recovery_queue")
    .selectAll()
    .where("answered_at", "is", null)
    .orderBy("id")
    .limit(listedMax)
    .execute();
}

/** One question, open or answered; `undefined` when there is none with this id. */
export async function readRecovery(
  ledger: Ledger,
  id: number,
): Promise<Selectable<RecoveryQueueTable> | undefined> {
  return ledger.selectFrom("recovery_queue").selectAll().where("id", "=", id).executeTakeFirst();
}
