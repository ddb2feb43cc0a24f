/** An independent count: what the server says in its own log that it carried out, against the tap's events. */
import { readFile } from "node:fs/promises";
import postgres from "postgres";
import pg from "pg";
import Cursor from "pg-cursor";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PostgresDetails } from "../../../../crash-lab/taps/event.js";
import { openPostgresTap } from "../../../../crash-lab/taps/postgres/postgres-tap.js";
import { createStatementReader } from "../../../../crash-lab/taps/postgres/statements.js";
import { newRunToken } from "../../../../crash-lab/taps/tokens.js";
import { openRun, startPostgres, type PostgresInstance, type Run } from "../../../../platform/index.js";
import { Recorder } from "../recorder.js";

let run: Run;
let server: PostgresInstance;
let databaseUrl: string;
beforeAll(async () => {
  run = await openRun({ name: "statement-log", handleSignals: false });
  server = await startPostgres(run, {
    name: "logging",
    // `mod` would leave out what is written inside WITH.
    settings: { log_statement: "all", log_line_prefix: "@%a@", fsync: "off" },
  });
  databaseUrl = await server.createDatabase("logged");
});
afterAll(() => run.close());

/** Statements in the log that came from this application, in order; a text of several lines is one entry. */
async function loggedStatements(application: string): Promise<string[]> {
  const log = await readFile(server.logFile, "utf8");
  const entry = new RegExp(
    `^@${application}@LOG: {2}(?:statement|execute [^:]*): ([^]*?)(?=\\n@|\\n?$(?![^]))`,
    "gm",
  );
  return [...log.matchAll(entry)].map((match) => match[1]!.replaceAll("\n\t", "\n"));
}

async function workThrough(url: string, application: string): Promise<void> {
  const token = newRunToken();
  const client = new pg.Client({ connectionString: url, application_name: application });
  await client.connect();
  await client.query("create table item(id text primary key, note text)");
  await client.query("insert into item values ($1, 'x')", [`${token}-1`]);
  await client.query("begin");
  await client.query("with x as (insert into item values ($1)\nreturning id) select * from x", [
    `${token}-2`,
  ]);
  await client.query("select * from item for update");
  await client.query("update item set note = 'insert' where id = $1", [`${token}-1`]);
  await client.query("commit");
  await client.query("insert into item values ($1)", [`${token}-1`]).catch(() => {});
  const cursor = client.query(
    new Cursor("insert into item select $1 || n from generate_series(3, 9) n returning id", [`${token}-`]),
  );
  await cursor.read(3);
  await cursor.close();
  const named = { name: "note", text: "update item set note = $2 where id = $1" };
  for (const note of ["a", "b"]) await client.query({ ...named, values: [`${token}-1`, note] });
  await client.query(
    `update item set note = '1' where id = '${token}-1'; delete from item where id = '${token}-2'`,
  );
  await client.end();
  const sql = postgres(url, { max: 1, connection: { application_name: application } });
  await Promise.all(
    ["10", "11", "12"].map((n) => sql`insert into item ${sql({ id: `${token}-${n}`, note: n })}`),
  );
  await sql.begin((tx) => tx`delete from item where id = ${`${token}-10`}`);
  await sql.end();
}

describe("events of the tap against the server's statement log", () => {
  it("are the same statements that write, in the same number", async () => {
    const recorder = new Recorder();
    const { port } = new URL(databaseUrl);
    const tap = await openPostgresTap({
      process: "worker",
      controller: recorder,
      upstream: { host: "127.0.0.1", port: Number(port) },
    });
    const tapped = new URL(databaseUrl);
    tapped.port = String(tap.port);
    await workThrough(tapped.href, "tapped");
    await tap.close();

    const reader = await createStatementReader();
    const logged = (await loggedStatements("tapped")).flatMap((text) => reader.read(text));
    const written = logged
      .filter(({ writes }) => writes)
      .map(({ verb, fingerprint }) => `${verb} ${fingerprint}`);
    const seen = recorder
      .of("after")
      .flatMap(({ details }) =>
        (details as PostgresDetails).statements
          .filter(({ writes }) => writes)
          .map(({ verb, fingerprint }) => `${verb} ${fingerprint}`),
      );
    expect(written).toHaveLength(14);
    expect(seen).toEqual(written);
    const commits = logged.filter(({ kind }) => kind === "commit").length;
    // One more is the end of the cursor's transaction, which has no statement of its own.
    expect(recorder.of("after").filter(({ label }) => /(^| )commit$/.test(label))).toHaveLength(commits + 1);
  });

  it("are fewer when a client goes past the tap, which the count shows", async () => {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: "bypassing" });
    await client.connect();
    await client.query("delete from item");
    await client.end();
    expect(await loggedStatements("bypassing")).toEqual(["delete from item"]);
  });
});
