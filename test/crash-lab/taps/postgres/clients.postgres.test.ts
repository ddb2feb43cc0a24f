/** Clients that use the protocol in all its ways must not notice the tap. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import Cursor from "pg-cursor";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { newRunToken } from "../../../../crash-lab/taps/tokens.js";
import { openPostgresRig, type PostgresRig } from "./rig.js";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await openPostgresRig(inject("postgresUrl"));
});
afterAll(() => rig.close());

const verbs = (events: readonly { label: string }[]) => events.map(({ label }) => label.split(" ")[0]);

describe("clients through the Postgres tap", () => {
  it("postgres with ssl 'prefer': named statements, transactions, types", async () => {
    const { url, recorder } = await rig.openTap();
    const sql = postgres(url, { ssl: "prefer", max: 1 });
    const token = newRunToken();
    for (const n of [1, 2, 3]) {
      await sql`insert into item ${sql({ id: `${token}-${n}`, note: "n" })}`;
      expect(await sql`select id from item where id = ${`${token}-${n}`}`).toHaveLength(1);
    }
    await sql.begin(async (tx) => {
      await tx`update item set note = 'm' where id = ${`${token}-1`}`;
      await tx`delete from item where id = ${`${token}-2`}`;
    });
    await sql.end();
    expect(verbs(recorder.of("after"))).toEqual(["insert", "insert", "insert", "update", "delete", "commit"]);
    expect(new Set(recorder.events.map(({ attribution }) => attribution))).toEqual(new Set(["run"]));
    expect(recorder.faults()).toEqual([]);
  });

  it("pipelining, with errors in between", async () => {
    const { url, recorder } = await rig.openTap();
    const sql = postgres(url, { max: 1 });
    const token = newRunToken();
    await sql`insert into item ${sql({ id: `${token}-7` })}`;
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        n % 3 === 0
          ? sql`select ${n}::int as n`
          : sql`insert into item ${sql({ id: `${token}-${n}` })} returning id`,
      ),
    );
    await sql.end();
    const failed = results.flatMap((one, n) => (one.status === "rejected" ? [n] : []));
    expect(failed).toEqual([7]);
    const answers = results.map((one) => (one.status === "fulfilled" ? one.value[0] : "failed"));
    const expected = results.map((_, n) => (n % 3 === 0 ? { n } : { id: `${token}-${n}` }));
    expect(answers).toEqual(expected.map((one, n) => (n === 7 ? "failed" : one)));
    expect(recorder.of("after").filter(({ status }) => status === "23505")).toHaveLength(1);
    expect(recorder.of("after")).toHaveLength(27);
  });

  it("holds one write of a pipeline without mixing up the answers", async () => {
    const { url, recorder } = await rig.openTap();
    const sql = postgres(url, { max: 1 });
    await sql`select 1`;
    const token = newRunToken();
    const held = recorder.hold(({ side, key }) => side === "after" && key === `${token}-2`);
    const writing = Promise.all(
      Array.from({ length: 6 }, (_, n) => sql`insert into item ${sql({ id: `${token}-${n}` })} returning id`),
    );
    const last = recorder.next(({ side, key }) => side === "after" && key === `${token}-5`);
    await held.arrived;
    await last;
    held.release();
    expect((await writing).map((rows) => rows[0]!["id"])).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => `${token}-${n}`),
    );
    await sql.end();
  });

  it("a cursor, which ends its messages with Flush", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const cursor = tapped.query(new Cursor("select n from generate_series(1, 2500) n"));
    let sum = 0;
    for (let rows = await cursor.read(400); rows.length > 0; rows = await cursor.read(400)) {
      for (const row of rows) sum += row.n;
    }
    await cursor.close();
    expect(sum).toBe((2500 * 2501) / 2);
    expect(recorder.events).toEqual([]);

    const token = newRunToken();
    const text = "insert into item(id) select $1 || n from generate_series(1, 30) n returning id";
    const writing = tapped.query(new Cursor(text, [`${token}-`]));
    expect(await writing.read(10)).toHaveLength(10);
    expect((await rig.direct.query("select from item where id like $1", [`${token}%`])).rowCount).toBe(0);
    await writing.read(100);
    await writing.close();
    expect(verbs(recorder.of("after"))).toEqual(["insert", "commit"]);
    expect((await rig.direct.query("select from item where id like $1", [`${token}%`])).rowCount).toBe(30);
    expect((await tapped.query("select 2 as two")).rows).toEqual([{ two: 2 }]);
  });

  it("COPY in and out", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    const lines = Array.from({ length: 3_000 }, (_, n) => `${token}-${n}\tnote ${n}\tnew\n`);
    const held = recorder.hold(({ side }) => side === "after");
    const copying = pipeline(Readable.from(lines), tapped.query(copyFrom("copy item from stdin")));
    await held.arrived;
    const count = "select count(*)::int as n from item where id like $1";
    expect((await rig.direct.query(count, [`${token}-%`])).rows).toEqual([{ n: 3_000 }]);
    held.release();
    await copying;
    // A copy names its run nowhere but in its data, which is not looked through.
    expect(recorder.of("after")).toEqual([
      expect.objectContaining({ status: "COPY 3000", attribution: "unattributed" }),
    ]);
    const chunks: Buffer[] = [];
    const out = tapped.query(copyTo(`copy (select id from item where id like '${token}-%') to stdout`));
    for await (const chunk of out) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString().trimEnd().split("\n")).toHaveLength(3_000);
    await expect(
      pipeline(
        Readable.from(["bad\tline\twith\ttoo\tmany\n"]),
        tapped.query(copyFrom("copy item from stdin")),
      ),
    ).rejects.toThrow(/extra data/);
    expect((await tapped.query("select 3 as three")).rows).toEqual([{ three: 3 }]);
  });

  it("a cancelled query", async () => {
    const { url } = await rig.openTap();
    const sql = postgres(url, { max: 1 });
    const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
    const sleeping = sql`select pg_sleep(60)`.execute();
    const failed = sleeping.catch((error: Error) => error.message);
    // Running for sure: the server says so.
    const active = "select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'";
    while ((await rig.direct.query(active, [pid])).rowCount === 0);
    sleeping.cancel();
    expect(await failed).toMatch(/canceling statement/);
    expect(await sql`select 4 as four`).toEqual([{ four: 4 }]);
    await sql.end();
  });

  it("notices, big rows and big results, without keeping them", async () => {
    const { client } = await rig.openTap();
    const tapped = await client();
    const notice = new Promise((resolve) => tapped.once("notice", resolve));
    await tapped.query("do $$ begin raise notice 'hello'; end $$");
    expect(await notice).toMatchObject({ message: "hello" });
    const megabytes = 24;
    const text = `select repeat('x', ${megabytes} * 1024 * 1024) as big`;
    const [through, direct] = await Promise.all([tapped.query(text), rig.direct.query(text)]);
    const digest = (value: string) => createHash("sha256").update(value).digest("hex");
    expect(digest(through.rows[0].big)).toBe(digest(direct.rows[0].big));
    let rows = 0;
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const cursor = tapped.query(new Cursor("select repeat('y', 65536) as big from generate_series(1, 2000)"));
    for (let some = await cursor.read(50); some.length > 0; some = await cursor.read(50)) {
      rows += some.length;
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    expect(rows).toBe(2_000);
    // 125 MB came through; the batches of 50 rows (3 MB) leave garbage, hence the room.
    expect(peak).toBeLessThan(80 * 1024 * 1024);
  });

  it("a write with a large answer: rows pass when they are too many to keep, its end is still withheld", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    const held = recorder.hold(({ side }) => side === "after");
    let told = false;
    const text = `insert into item(id, note) select $1 || n, repeat('z', 1000000) from generate_series(1, 30) n returning *`;
    const writing = tapped.query(text, [`${token}-`]).then((result) => ((told = true), result));
    await held.arrived;
    expect(told).toBe(false);
    held.release();
    expect((await writing).rows.map((row) => row.note.length)).toEqual(Array(30).fill(1_000_000));
  });

  it("statements prepared by SQL and by name, and a name used again", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    await tapped.query("prepare put(text) as insert into item(id) values ($1)");
    await tapped.query(`execute put('${token}-a')`);
    const named = { name: "put-note", text: "update item set note = $2 where id = $1" };
    await tapped.query({ ...named, values: [`${token}-a`, "1"] });
    await tapped.query({ ...named, values: [`${token}-a`, "2"] });
    expect(verbs(recorder.of("after"))).toEqual(["insert", "update", "update"]);
    expect(recorder.of("after").map(({ key }) => key)).toEqual(Array(3).fill(`${token}-a`));
  });

  it("a wrong password and a missing database are told as without the tap", async () => {
    const { url, recorder } = await rig.openTap();
    const missing = new URL(url);
    missing.pathname = "/no_such_database";
    const sql = postgres(missing.href, { max: 1 });
    await expect(sql`select 1`).rejects.toThrow(/does not exist/);
    await sql.end();
    expect(recorder.faults()).toEqual([]);
  });
});
