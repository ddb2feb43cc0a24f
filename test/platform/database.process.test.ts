import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { withConnection } from "../../platform/database-server.js";
import {
  freePort,
  inspectServer,
  openRun,
  startDatabase,
  startPostgres,
  type PostgresInstance,
  type Run,
} from "../../platform/index.js";
import { RunBench } from "./held-run.js";

let folder: string;
let run: Run;
/** Stands for the server that a person has. */
let given: PostgresInstance;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "killproof-database-test-"));
  run = await openRun({ name: "given", runsFolder: join(folder, "runs"), handleSignals: false });
  given = await startPostgres(run, { name: "given" });
});
afterEach(() => vi.unstubAllEnvs());
afterAll(async () => {
  await run.close();
  rmSync(folder, { recursive: true });
});

const sql = async (url: string, text: string): Promise<unknown[]> =>
  withConnection(url, async (client) => (await client.query(text)).rows);

const databases = async (): Promise<unknown[]> =>
  sql(given.url, "select datname from pg_database where datname like 'killproof%'");

async function urlOfRole(name: string, rights: string): Promise<string> {
  await sql(given.url, `create role ${name} login password 'secret' ${rights}`);
  const url = new URL(given.url);
  url.username = name;
  url.password = "secret";
  return url.href;
}

test("a run on a given server has databases of its own, dropped when it closes", async () => {
  vi.stubEnv("DATABASE_URL", given.url);
  const inner = await openRun({ name: "inner", runsFolder: join(folder, "runs"), handleSignals: false });
  const database = await startDatabase(inner, { name: "ledger" });
  expect(database).toMatchObject({ embedded: false, server: undefined, version: given.version });
  await sql(database.url, "create table entry (id int)");
  await sql(await database.createDatabase("second"), "select 1");
  expect(await databases()).toHaveLength(2);
  await inner.close();
  expect(await databases()).toEqual([]);
});

test("a killed run's databases are dropped too, with whoever is still connected", async () => {
  const bench = new RunBench();
  try {
    const held = await bench.start(bench.command({ database: true }), { env: { DATABASE_URL: given.url } });
    expect(await databases()).toHaveLength(1);
    await withConnection(held.ready.databaseUrl ?? "", async (client) => {
      await client.query("select 1");
      process.kill(held.ready.pid, "SIGKILL");
      await bench.expectGone(held);
      expect(await databases()).toEqual([]);
    });
  } finally {
    bench.dispose();
  }
});

test("a run left dead on a server that isn't named any more is kept until it is named again", async () => {
  const bench = new RunBench();
  try {
    const held = await bench.start(bench.command({ database: true }), { env: { DATABASE_URL: given.url } });
    process.kill(held.ready.pid, "SIGSTOP");
    process.kill(held.ready.guardian, "SIGKILL");
    process.kill(held.ready.pid, "SIGKILL");
    await held.exited;
    await expect.poll(() => bench.processes()).toEqual([]);

    const notices: string[] = [];
    const options = {
      name: "sweeper",
      runsFolder: bench.runsFolder,
      handleSignals: false,
      notice: (line: string): void => void notices.push(line),
    };
    await (await openRun(options)).close();
    expect(notices).toEqual([
      expect.stringMatching(
        /^Left by a dead run: database killproof_held_\S+ on 127\.0\.0\.1:\d+: set DATABASE_URL/,
      ),
    ]);
    expect(await databases()).toHaveLength(1);

    vi.stubEnv("DATABASE_URL", given.url);
    await (await openRun(options)).close();
    expect(notices).toHaveLength(1);
    expect(await databases()).toEqual([]);
  } finally {
    bench.dispose();
  }
});

test("a server that can't be reached is named without the password", async () => {
  const port = await freePort();
  const url = `postgres://someone:secret@127.0.0.1:${port}/postgres`;
  vi.stubEnv("DATABASE_URL", url);
  await expect(startDatabase(run, { name: "refused" })).rejects.toMatchObject({
    name: "UserFacingError",
    exitCode: 2,
    message: `DATABASE_URL (someone@127.0.0.1:${port}/postgres) can't be reached: nothing listens there.`,
  });
});

test("a wrong password is said to be one", async () => {
  const url = new URL(given.url);
  url.password = "guessed";
  await expect(inspectServer(url.href)).rejects.toThrow(/refuses the password/);
  await expect(inspectServer(url.href)).rejects.not.toThrow(/guessed/);
});

test("a database that isn't there is said to be missing", async () => {
  const url = new URL(given.url);
  url.pathname = "/absent";
  await expect(inspectServer(url.href)).rejects.toThrow(
    /has no such database: database "absent" does not exist/,
  );
});

test("a user without the right to create databases is refused with the remedy", async () => {
  const url = await urlOfRole("reader", "");
  await expect(inspectServer(url)).rejects.toThrow(
    /the user may not create databases.*alter role … createdb/,
  );
  await sql(given.url, "alter role reader createdb");
  expect(await inspectServer(url)).toEqual({ version: given.version });
});

test("a server older than 15 is refused with its version", async () => {
  // No such server is at hand: for this role, another function answers what the version is.
  const url = await urlOfRole("archaeologist", "createdb");
  await sql(
    given.url,
    `create schema old;
     grant usage on schema old to archaeologist;
     create function old.current_setting(setting text) returns text language sql as
       $$ select case setting when 'server_version_num' then '140011' else '14.11' end $$;
     alter role archaeologist set search_path = old, pg_catalog`,
  );
  await expect(inspectServer(url)).rejects.toThrow(/Postgres 14\.11 is too old; 15 or newer is needed/);
});

test.each(["not a url", "mysql://localhost/x"])("DATABASE_URL=%s is refused", async (url) => {
  await expect(inspectServer(url)).rejects.toThrow(
    "DATABASE_URL is not a URL of the form postgres://user:password@host:port/database",
  );
});
