import { sql } from "kysely";
import pg from "pg";
import { expect, inject, test } from "vitest";

import { ledgerDatabase } from "../../support/database.js";
import { connectionsLeft, withServer } from "../../support/database-template.js";

const database = ledgerDatabase();

test("a connection that is left open is noticed, by name and with what it did last", async () => {
  const forgotten = new pg.Client({ connectionString: database.url, application_name: "forgotten" });
  await forgotten.connect();
  await forgotten.query("select 'last words'");
  const name = new URL(database.url).pathname.slice(1);
  // The file's own pool is open too; only what the guard would say after closing it matters here.
  await withServer(inject("postgresUrl"), async (server) => {
    expect(await connectionsLeft(server, name, 0)).toContainEqual("forgotten (idle): select 'last words'");
  });
  await forgotten.end();
});

test("each file has a database of its own, with the ledger's clock running", async () => {
  const { rows } = await sql<{ name: string; drift: number }>`
    select current_database() as name, extract(epoch from ledger_now() - clock_timestamp())::float8 as drift`.execute(
    database.ledger,
  );
  expect(rows[0]?.name).toMatch(/^killproof_test_\d+_[0-9a-f]{8}$/);
  expect(Math.abs(rows[0]?.drift ?? 1)).toBeLessThan(0.1);
});
