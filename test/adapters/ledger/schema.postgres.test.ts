import { fileURLToPath } from "node:url";

import { sql } from "kysely";
import { expect, test } from "vitest";

import { dumpSchema } from "../../../adapters/ledger/dump-schema.js";
import { ledgerDatabase } from "../../support/database.js";

const database = ledgerDatabase();

/** Where the schema stands for people to read; `-u` writes it anew. */
const schemaFile = fileURLToPath(new URL("../../../adapters/ledger/schema.sql", import.meta.url));

test("the committed schema is the one that the steps make", async () => {
  await expect(await dumpSchema(database.ledger)).toMatchFileSnapshot(schemaFile);
});

test("a change of any part of the schema changes the dump", async () => {
  const before = await dumpSchema(database.ledger);
  const changes = [
    "alter table outbox add column extra text",
    "alter table outbox alter column claims set default 7",
    "alter table outbox drop constraint outbox_state_check",
    "alter domain operation_state drop constraint operation_state_check",
    "drop index outbox_pending",
    "drop trigger outbox_notifies on outbox",
    "create or replace function ledger_now() returns timestamptz language sql as 'select now()'",
  ];
  for (const change of changes) {
    const after = await database.ledger
      .transaction()
      .execute(async (transaction) => {
        await sql.raw(change).execute(transaction);
        const dump = await dumpSchema(transaction);
        throw new RolledBack(dump);
      })
      .catch((error: unknown) => (error instanceof RolledBack ? error.dump : Promise.reject(error)));
    expect(after, change).not.toBe(before);
  }
  expect(await dumpSchema(database.ledger), "after rolling everything back").toBe(before);
});

class RolledBack extends Error {
  constructor(readonly dump: string) {
    super("rolled back on purpose");
  }
}
