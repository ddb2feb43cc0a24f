import { randomBytes } from "node:crypto";

import { sql } from "kysely";
import { afterAll, beforeAll, inject } from "vitest";

import { openLedger, type Ledger, type LedgerOptions } from "../../adapters/ledger/database.js";
import { connectionsLeft, createFromTemplate, databaseUrl, withServer } from "./database-template.js";

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
