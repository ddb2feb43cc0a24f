import { sql } from "kysely";
import { describe } from "vitest";

import { listEvents } from "../../../../adapters/ledger/operations/list-events.js";
import { createOperationJournal } from "../../../../adapters/ledger/operations/journal.js";
import { ledgerDatabase } from "../../../support/database.js";
import { journalContract } from "../../../support/operation/journal-contract.js";

const database = ledgerDatabase();

describe("the operations journal in Postgres", () => {
  journalContract(async () => {
    const { ledger } = database;
    return {
      journal: createOperationJournal(ledger),
      eventsOf: (key) => listEvents(ledger, key),
      openQuestions: (key) =>
        ledger
          .selectFrom("recovery_queue")
          .select(["id", "reason"])
          .where("subject", "=", key)
          .where("answered_at", "is", null)
          .execute(),
      setGeneration: async (ownerId, generation, state) => {
        await sql`insert into generations (owner_id, generation, state, changed_at)
                  values (${ownerId}, ${generation}, ${state}, ledger_now())`.execute(ledger);
      },
    };
  });
});
