import { createHash, randomBytes } from "node:crypto";

import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, inject } from "vitest";

import { openLedger, type Ledger, type LedgerOptions } from "../../adapters/ledger/database.js";
import { migrate } from "../../adapters/ledger/migrate.js";
import { migrations } from "../../adapters/ledger/migrations/index.js";

declare module "vitest" {
  interface ProvidedContext {
    /** A server on which databases may be created: `postgres://superuser@host:port/postgres`. */
    postgresUrl: string;
  }
}

/** A test file's own database, there between `beforeAll` and `afterAll`. */
export interface TestDatabase {
  readonly url: string;
  /** A pool for the test's own look at the tables. */
  readonly ledger: Ledger;
  /** Another pool, as another process would have it; closed after the file's tests if the test hasn't. */
  open(applicationName: string, options?: Partial<LedgerOptions>): Ledger;
}

/**
 * Gives the test file that calls it a migrated database of its own, and drops it afterwards. The file fails when
 * it leaves connections open that it didn't get from here: a forgotten pool or client is a leak in a process too.
 */
export function ledgerDatabase(): TestDatabase {
  return testDatabase({ migrated: true });
}

/** The same without any table, for tests of the migration itself. */
export function emptyDatabase(): TestDatabase {
  return testDatabase({ migrated: false });
}

function testDatabase({ migrated }: { migrated: boolean }): TestDatabase {
  const name = `killproof_test_${process.pid}_${randomBytes(4).toString("hex")}`;
  const opened: Ledger[] = [];
  let url: string | undefined;
  let ledger: Ledger | undefined;

  const started = <Value>(value: Value | undefined): Value => {
    if (value === undefined) {
      throw new Error("The test database is there only between beforeAll and afterAll.");
    }
    return value;
  };
  const open = (applicationName: string, options: Partial<LedgerOptions> = {}): Ledger => {
    const another = openLedger({ url: started(url), applicationName, poolSize: 4, ...options });
    opened.push(another);
    return another;
  };

  beforeAll(async () => {
    const serverUrl = inject("postgresUrl");
    await withServer(serverUrl, async (server) => {
      if (migrated) {
        await createFromTemplate(server, serverUrl, name);
      } else {
        await server.query(`create database ${name} template template0`);
      }
    });
    url = databaseUrl(serverUrl, name);
    ledger = open("test");
  });

  afterAll(async () => {
    await Promise.all(opened.map((each) => each.destroy()));
    await withServer(inject("postgresUrl"), async (server) => {
      const left = await connectionsLeft(server, name);
      await server.query(`drop database if exists ${name} with (force)`);
      if (left.length > 0) {
        throw new Error(`The tests left ${left.length} connection(s) open: ${left.join(", ")}.`);
      }
    });
  });

  return {
    get url() {
      return started(url);
    },
    get ledger() {
      return started(ledger);
    },
    open,
  };
}

/** Replaces the ledger's clock in a test database: `ledger_now()` then stands `offsetMs` away from the real time. */
export async function shiftLedgerClock(ledger: Ledger, offsetMs: number): Promise<void> {
  await sql
    .raw(
      `create or replace function ledger_now() returns timestamptz language sql volatile
       as $$ select clock_timestamp() + interval '${Math.round(offsetMs)} milliseconds' $$`,
    )
    .execute(ledger);
}

const templatePrefix = "killproof_template_";

/** Removes the templates, for the end of a run on a server that isn't ours. */
export async function dropLedgerTemplates(serverUrl: string): Promise<void> {
  await withServer(serverUrl, async (server) => {
    await server.query("select pg_advisory_lock($1)", [templateLock]);
    const { rows } = await server.query<{ datname: string }>(
      "select datname from pg_database where starts_with(datname, $1)",
      [templatePrefix],
    );
    for (const { datname } of rows) {
      await server.query(`drop database if exists ${datname}`);
    }
  });
}

/** Any number that nothing else uses: only one test file at a time makes or copies the template. */
const templateLock = 7_254_113;

/** Copying a migrated template takes a tenth of the time of running all steps. It is renamed when it is whole. */
async function createFromTemplate(server: pg.Client, serverUrl: string, name: string): Promise<void> {
  const digest = createHash("sha256").update(JSON.stringify(migrations)).digest("hex").slice(0, 16);
  const template = `${templatePrefix}${digest}`;
  await server.query("select pg_advisory_lock($1)", [templateLock]);
  const { rowCount } = await server.query("select from pg_database where datname = $1", [template]);
  if (rowCount === 0) {
    await server.query(`drop database if exists ${template}_unfinished with (force)`);
    await server.query(`create database ${template}_unfinished template template0`);
    await migrate({ url: databaseUrl(serverUrl, `${template}_unfinished`) });
    await untilNone(() => connectionsOf(server, `${template}_unfinished`));
    await server.query(`alter database ${template}_unfinished rename to ${template}`);
  }
  await server.query(`create database ${name} template ${template}`);
  await server.query("select pg_advisory_unlock($1)", [templateLock]);
}

/** A closed connection's session ends a moment later on the server; what is there after this long was left open. */
const sessionEndMs = 5_000;

async function connectionsLeft(server: pg.Client, database: string): Promise<readonly string[]> {
  return untilNone(() => connectionsOf(server, database));
}

async function untilNone(look: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const until = performance.now() + sessionEndMs;
  for (;;) {
    const found = await look();
    if (found.length === 0 || performance.now() > until) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function connectionsOf(server: pg.Client, database: string): Promise<readonly string[]> {
  const { rows } = await server.query<{ who: string }>(
    `select format('%s (%s): %s', application_name, state, left(query, 80)) as who
       from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
    [database],
  );
  return rows.map((row) => row.who);
}

async function withServer(serverUrl: string, act: (server: pg.Client) => Promise<void>): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl, application_name: "test-set-up" });
  await server.connect();
  try {
    await act(server);
  } finally {
    await server.end();
  }
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
