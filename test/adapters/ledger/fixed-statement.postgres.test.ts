import { sql } from "kysely";
import { expect, test } from "vitest";

import { fixedStatement } from "../../../adapters/ledger/fixed-statement.js";
import { ledgerDatabase } from "../../support/database.js";

const database = ledgerDatabase();

test("gives each call its own values, and a parameter that is named twice one place", async () => {
  const echo = fixedStatement(
    { name: "text", count: "integer?", detail: "jsonb?" },
    ({ name, count, detail }) =>
      sql<{
        readonly name: string;
        readonly again: string;
        readonly count: number | null;
        readonly detail: unknown;
      }>`select ${name} as name, ${name} as again, ${count} as count, ${detail} as detail`,
  );
  expect(await echo(database.ledger, { name: "one", count: 1, detail: { ok: true } })).toEqual([
    { name: "one", again: "one", count: 1, detail: { ok: true } },
  ]);
  expect(await echo(database.ledger, { name: "two", count: null, detail: null })).toEqual([
    { name: "two", again: "two", count: null, detail: null },
  ]);
});

test("is put together once, and prepared once for a connection", async () => {
  let built = 0;
  const statement = fixedStatement({ key: "text" }, ({ key }) => {
    built += 1;
    return sql`select ${key} as key /* once for a connection */`;
  });
  const prepared = await database.ledger.connection().execute(async (connection) => {
    await statement(connection, { key: "a" });
    await statement(connection, { key: "b" });
    const { rows } = await sql<{ uses: number }>`
      select (generic_plans + custom_plans)::integer as uses from pg_prepared_statements
      where statement like '%once for a connection%'`.execute(connection);
    return rows;
  });
  expect(built).toBe(1);
  expect(prepared).toEqual([{ uses: 2 }]);
});

test("refuses a value in its text, which would be that of the first call for ever", async () => {
  const name = "somebody";
  const wrong = fixedStatement({ key: "text" }, ({ key }) => sql`select ${key}, ${name}`);
  await expect(wrong(database.ledger, { key: "a" })).rejects.toThrow(
    'holds a value of its first call: ["somebody"]',
  );
});

test("runs as part of the caller's transaction", async () => {
  const add = fixedStatement(
    { id: "text" },
    ({ id }) => sql`
      insert into generations (owner_id, generation, state, changed_at)
      values (${id}, 1, 'provisioning', ledger_now())`,
  );
  const rolledBack = database.ledger.transaction().execute(async (transaction) => {
    await add(transaction, { id: "tenant-1" });
    throw new Error("changed my mind");
  });
  await expect(rolledBack).rejects.toThrow("changed my mind");
  expect(await database.ledger.selectFrom("generations").selectAll().execute()).toEqual([]);
});
