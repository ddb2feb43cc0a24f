/**
 * Records what real clients and a real server say to each other, for the tests that cut it anywhere.
 *
 * Usage, after `npm run build`: `node dist/test/crash-lab/taps/recordings/record-postgres.js DATABASE_URL`.
 * The database is only read and written in temporary tables. Nothing that is recorded is secret: connect without a
 * password, or with one that is worth nothing.
 */
import { writeFileSync } from "node:fs";
import net from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import Cursor from "pg-cursor";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import postgres from "postgres";

export interface Turn {
  readonly from: "client" | "server";
  /** Base64. */
  readonly bytes: string;
}

export interface Recording {
  readonly name: string;
  readonly turns: readonly Turn[];
}

const token = "kp0123456789ab";

const conversations: Readonly<Record<string, (url: string) => Promise<void>>> = {
  "pg-transaction-cursor-copy": async (url) => {
    const client = new pg.Client(url);
    await client.connect();
    await client.query("create temp table item(id text primary key, note text)");
    await client.query("begin");
    await client.query("insert into item values ($1, $2)", [`${token}-1`, "x"]);
    await client.query("update item set note = 'y' returning id");
    await client.query("commit");
    await client.query({ name: "named", text: "select $1::int as n", values: [1] });
    await client.query({ name: "named", text: "select $1::int as n", values: [2] });
    await client.query("insert into item values ($1)", [`${token}-1`]).catch(() => {});
    const cursor = client.query(
      new Cursor("insert into item select $1 || n from generate_series(2, 6) n returning id", [`${token}-`]),
    );
    await cursor.read(2);
    await cursor.read(20);
    await cursor.close();
    await pipeline(
      Readable.from([`${token}-7\tx\n`, `${token}-8\ty\n`]),
      client.query(copyFrom("copy item from stdin")),
    );
    const out = client.query(copyTo("copy item to stdout"));
    for await (const _chunk of out);
    await client.query("begin; delete from item; rollback");
    await client.end();
  },
  "postgres-prefer-pipeline": async (url) => {
    const sql = postgres(url, { ssl: "prefer", max: 1 });
    await sql`create temp table item(id text primary key, note text)`;
    await Promise.allSettled([
      sql`insert into item ${sql({ id: `${token}-1`, note: "x" })}`,
      sql`select count(*) from item`,
      sql`insert into item ${sql({ id: `${token}-1`, note: "again" })}`,
      sql`with gone as (delete from item returning id) select * from gone`,
    ]);
    await sql.notify("nobody", "x");
    await sql.end();
  },
};

async function record(name: string, url: string): Promise<Recording> {
  const turns: { from: Turn["from"]; bytes: Buffer }[] = [];
  const keep = (from: Turn["from"], bytes: Buffer) => {
    const last = turns.at(-1);
    if (last?.from === from) last.bytes = Buffer.concat([last.bytes, bytes]);
    else turns.push({ from, bytes });
  };
  const target = new URL(url);
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    client.on("data", (chunk: Buffer) => (keep("client", chunk), upstream.write(chunk)));
    upstream.on("data", (chunk: Buffer) => (keep("server", chunk), client.write(chunk)));
    client.on("close", () => upstream.end());
    upstream.on("close", () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const relay = new URL(url);
  relay.hostname = "127.0.0.1";
  relay.port = String((server.address() as net.AddressInfo).port);
  await conversations[name]!(relay.href);
  server.close();
  return { name, turns: turns.map(({ from, bytes }) => ({ from, bytes: bytes.toString("base64") })) };
}

const url = process.argv[2];
if (url !== undefined) {
  for (const name of Object.keys(conversations)) {
    const recording = await record(name, url);
    writeFileSync(
      new URL(`../../../../../test/crash-lab/taps/recordings/${name}.json`, import.meta.url),
      `${JSON.stringify(recording, undefined, 1)}\n`,
    );
  }
}
