/** Databases for tests, made from a migrated template. Without the test runner's hooks; those are in `database.ts`. */
import { createHash } from "node:crypto";

import pg from "pg";

import { migrate } from "../../adapters/ledger/migrate.js";
import { migrations } from "../../adapters/ledger/migrations/index.js";

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

/** One file runs the steps and all others copy what it made. The template is renamed when it is whole. */
export async function createFromTemplate(server: pg.Client, serverUrl: string, name: string): Promise<void> {
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

/** Who is still connected to a database `waitMs` after everybody should have gone. */
export async function connectionsLeft(
  server: pg.Client,
  database: string,
  waitMs = sessionEndMs,
): Promise<readonly string[]> {
  return untilNone(() => connectionsOf(server, database), waitMs);
}

async function untilNone(
  look: () => Promise<readonly string[]>,
  waitMs = sessionEndMs,
): Promise<readonly string[]> {
  const until = performance.now() + waitMs;
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

export async function withServer(
  serverUrl: string,
  act: (server: pg.Client) => Promise<void>,
): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl, application_name: "test-set-up" });
  await server.connect();
  try {
    await act(server);
  } finally {
    await server.end();
  }
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
