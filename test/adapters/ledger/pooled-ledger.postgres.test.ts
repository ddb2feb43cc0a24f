import { sql } from "kysely";
import type pg from "pg";
import { expect, test, vi } from "vitest";

import { fixedStatement } from "../../../adapters/ledger/fixed-statement.js";
import { preparingPool } from "../../../adapters/ledger/prepared-statements.js";
import { ledgerDatabase } from "../../support/database.js";

const database = ledgerDatabase();

const one = fixedStatement({}, () => sql<{ readonly one: number }>`select 1 as one`);

const connectionsOf = async (applicationName: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity where application_name = ${applicationName}`.execute(
    database.ledger,
  );
  return rows[0]!.count;
};

test("a ledger that only ran fixed statements closes its connections too", async () => {
  const ledger = database.open("only-fixed");
  expect(await one(ledger, {})).toEqual([{ one: 1 }]);
  expect(await connectionsOf("only-fixed")).toBe(1);
  await ledger.destroy();
  await vi.waitFor(async () => expect(await connectionsOf("only-fixed")).toBe(0));
  await expect(one(ledger, {})).rejects.toThrow("after calling end");
  await ledger.destroy();
});

test("a statement that fails gives its connection back", async () => {
  const ledger = database.open("failing", { poolSize: 1 });
  const fails = fixedStatement({ text: "text" }, ({ text }) => sql`select ${text}::integer`);
  await expect(fails(ledger, { text: "x" })).rejects.toMatchObject({ code: "22P02" });
  expect(await one(ledger, {})).toEqual([{ one: 1 }]);
  expect(await connectionsOf("failing")).toBe(1);
});

test("a connection that Kysely gives up doesn't come back to the pool", async () => {
  const release = vi.fn<(discarded?: boolean) => void>();
  const pool = { connect: () => Promise.resolve({ release }) } as unknown as pg.Pool;
  const client = await preparingPool(pool).connect();
  client.release(true);
  expect(release).toHaveBeenCalledWith(true);
});
