import { createServer } from "node:net";

import { sql } from "kysely";
import { expect, inject, test } from "vitest";

import { openLedger } from "../../../adapters/ledger/database.js";
import { LedgerTooOld, LedgerUnavailable } from "../../../adapters/ledger/ledger-errors.js";
import { checkSchema, migrate } from "../../../adapters/ledger/migrate.js";
import { migrations, type Migration } from "../../../adapters/ledger/migrations/index.js";
import { emptyDatabase, ledgerDatabase } from "../../support/database.js";

const rivals = emptyDatabase();
const half = emptyDatabase();
const versions = emptyDatabase();
const migrated = ledgerDatabase();

const step = (name: Migration["name"], text: string, breaking = false): Migration => ({
  name,
  sql: text,
  breaking,
});

test("of twenty at once each step is taken by exactly one", async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => migrate({ url: rivals.url })));
  const taken = results.flatMap((result) => result.applied).sort();
  expect(taken).toEqual(migrations.map((each) => each.name).sort());
  const rows = await rivals.ledger.selectFrom("ledger_migrations").select("name").orderBy("number").execute();
  expect(rows.map((row) => row.name)).toEqual(migrations.map((each) => each.name));
  expect(await migrate({ url: rivals.url })).toEqual({ applied: [] });
});

test("a step that fails half-way leaves nothing, and those before it stand", async () => {
  const good = step("0000-good", "create table first_one (x integer)");
  const bad = step("0001-bad", "create table second_one (x integer); select 1 / 0;");
  await expect(migrate({ url: half.url, migrations: [good, bad] })).rejects.toThrow("division by zero");

  const { rows } = await sql<{ tables: string[] }>`
    select array_agg(relname::text order by relname) as tables from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(half.ledger);
  expect(rows[0]?.tables).toEqual(["first_one", "ledger_migrations"]);
  const mended = step("0001-mended", "create table second_one (x integer)");
  expect(await migrate({ url: half.url, migrations: [good, mended] })).toEqual({ applied: ["0001-mended"] });
});

test("an old process works on a newer schema, unless a newer step is breaking", async () => {
  const first = step("0000-first", "create table one (x integer)");
  const harmless = step("0001-harmless", "create table two (x integer)");
  const breaking = step("0002-breaking", "alter table one rename to another", true);
  await migrate({ url: versions.url, migrations: [first, harmless] });
  expect(await migrate({ url: versions.url, migrations: [first] })).toEqual({ applied: [] });

  await migrate({ url: versions.url, migrations: [first, harmless, breaking] });
  await expect(migrate({ url: versions.url, migrations: [first] })).rejects.toThrow(
    "has the step 0002-breaking, which is newer than this version",
  );
});

test("an applied step that was edited is refused by name", async () => {
  const [first, ...others] = migrations;
  const edited = { ...first!, sql: `${first!.sql}\n-- edited` };
  await expect(migrate({ url: migrated.url, migrations: [edited, ...others] })).rejects.toThrow(
    'took step 0 as "0000-ledger-now"',
  );
});

test("numbers that don't rise are refused before anything is sent", async () => {
  const twice = [step("0001-one", "select 1"), step("0001-other", "select 1")];
  await expect(migrate({ url: "postgres://nobody@127.0.0.1:1/none", migrations: twice })).rejects.toThrow(
    'The migration "0001-other" stands after "0001-one"',
  );
});

test("a process is told which steps its ledger lacks", async () => {
  await expect(checkSchema(migrated.ledger, migrated.url)).resolves.toBeUndefined();
  const server = inject("postgresUrl");
  const bare = openLedger({ url: server, applicationName: "bare" });
  await expect(checkSchema(bare, server)).rejects.toThrow("lacks 0000-ledger-now, 0001-operations");
  await bare.destroy();
});

test("what stands in the way of a connection is said in words, without the password", async () => {
  const port = await closedPort();
  const refused = await failure(migrate({ url: `postgres://me:secret@127.0.0.1:${port}/ledger` }));
  expect(refused).toBeInstanceOf(LedgerUnavailable);
  expect(refused.message).toContain(`postgres://me@127.0.0.1:${port}/ledger can't be used`);
  expect(refused.message).toContain("Nothing listens there");
  expect(refused.message).not.toContain("secret");

  const missing = new URL(inject("postgresUrl"));
  missing.pathname = "/no_such_database";
  const absent = await failure(migrate({ url: missing.href }));
  expect(absent.message).toContain("The database doesn't exist: create it first.");

  const unreadable = await failure(migrate({ url: "mysql://127.0.0.1/ledger" }));
  expect(unreadable.message).toBe(
    "The ledger's url starts with mysql:; allowed: postgres://user:password@host:port/database.",
  );
});

test("a server before Postgres 15 is refused", async () => {
  // The version is a parameter that nothing can set, so a function of the same name stands in front of it here.
  await sql`create schema if not exists old_server`.execute(migrated.ledger);
  await sql`create or replace function old_server.current_setting(text) returns text language sql
            as $$ select '140011' $$`.execute(migrated.ledger);
  const url = new URL(migrated.url);
  const old = openLedger({ url: url.href, applicationName: "old", poolSize: 1 });
  await sql`set search_path = old_server, pg_catalog, public`.execute(old);
  const error = await failure(checkSchema(old, url.href));
  await old.destroy();
  expect(error).toBeInstanceOf(LedgerTooOld);
  expect(error.message).toContain("Postgres 14 (version number 140011)");
});

async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => Promise.reject(new Error("It should have failed.")),
    (error: Error) => error,
  );
}

/** A port that was free a moment ago, and on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return (address as { port: number }).port;
}
