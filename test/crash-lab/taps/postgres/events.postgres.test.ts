/** What the tap reports, and what a hold, a drop and a reset do to a real server and a real client. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type pg from "pg";
import { loadFunctionKnowledge } from "../../../../crash-lab/taps/postgres/catalogue.js";
import { newRunToken } from "../../../../crash-lab/taps/tokens.js";
import { openPostgresRig, type PostgresRig } from "./rig.js";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await openPostgresRig(inject("postgresUrl"));
});
afterAll(() => rig.close());

const insert = "insert into item(id, note) values ($1, $2)";
const countOf = async (id: string) =>
  (await rig.direct.query("select count(*)::int as n from item where id = $1", [id])).rows[0].n as number;

/** Settled or not, by what is known now: every answer that was on its way has been read. */
const ended = (client: pg.Client) => new Promise<void>((resolve) => client.once("end", () => resolve()));

describe("events of the Postgres tap", () => {
  it("reports a write before and after, with label, key, digest, status and the runs it belongs to", async () => {
    const { recorder, client } = await rig.openTap();
    const token = newRunToken();
    await (await client()).query(insert, [`item:${token}:1`, "x"]);
    expect(recorder.events).toHaveLength(2);
    const [before, after] = recorder.events;
    expect(before).toMatchObject({
      process: "worker",
      tap: "postgres",
      side: "before",
      attribution: "run",
      runTokens: [token],
      key: `item:${token}:1`,
      status: null,
      noWindow: null,
    });
    expect(before!.label).toMatch(/^insert item [0-9a-f]{16}$/);
    expect(after).toMatchObject({
      side: "after",
      label: before!.label,
      exchange: before!.exchange,
      status: "INSERT 0 1",
    });
    expect(after!.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(after!.details).toMatchObject({ kind: "postgres", rows: 1, commits: false });
  });

  it("reports no reads, and finds the write in a statement with", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    await tapped.query("select * from item for update");
    expect(recorder.events).toEqual([]);
    const id = newRunToken();
    await tapped.query("with x as (insert into item(id) values ($1) returning id) select * from x", [id]);
    expect(recorder.of("after").map(({ label }) => label.split(" ").slice(0, 2))).toEqual([
      ["insert", "item"],
    ]);
  });

  it("gives a commit to the runs of its transaction, and a write without an id too", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    await tapped.query("begin");
    await tapped.query(insert, [`${token}-a`, "x"]);
    await tapped.query("update item set note = 'y' where note = 'x'");
    await tapped.query("commit");
    expect(recorder.of("before").map(({ label, runTokens }) => [label.split(" ")[0], ...runTokens])).toEqual([
      ["insert", token],
      ["update", token],
      ["commit", token],
    ]);
    expect(recorder.of("after").at(-1)).toMatchObject({ status: "COMMIT" });
  });

  it("forgets a transaction that was rolled back, and makes no event of ending one that only read", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    await tapped.query("begin");
    await tapped.query(insert, [newRunToken(), "x"]);
    await tapped.query("rollback");
    await tapped.query("begin");
    await tapped.query("select 1");
    await tapped.query("commit");
    expect(recorder.of("after")).toHaveLength(1);
    await tapped.query("update item set note = 'q' where id = 'nobody''s'");
    expect(recorder.of("after").at(-1)).toMatchObject({ attribution: "service", noWindow: "empty-claim" });
  });

  it("gives a claim to the runs of the rows it returns, after only, and their transaction's commit as well", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    // The length of this field in the answer is 65, the letter "A".
    const id = `${token}-${"x".repeat(50)}`;
    expect(id).toHaveLength(65);
    await rig.direct.query(insert, [id, "claimable"]);
    await tapped.query("begin");
    await tapped.query("update item set state = 'claimed' where note = 'claimable' returning id");
    await tapped.query("commit");
    expect(
      recorder.events.map(({ side, label, runTokens }) => [side, label.split(" ")[0], runTokens]),
    ).toEqual([
      ["after", "update", [token]],
      ["before", "commit", [token]],
      ["after", "commit", [token]],
    ]);
    await tapped.query("delete from item where note = 'claimable'");
    expect(recorder.events.at(-1)).toMatchObject({ side: "after", attribution: "unattributed" });
  });

  it("takes declared labels for service traffic", async () => {
    const { recorder, client } = await rig.openTap({ service: [/insert item .*/] });
    await (await client()).query(insert, ["a lease", "x"]);
    expect(recorder.events).toEqual([expect.objectContaining({ side: "after", attribution: "service" })]);
  });

  it("holds before: nothing at the server until the release", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    const id = newRunToken();
    const held = recorder.hold(({ side }) => side === "before");
    const writing = tapped.query(insert, [id, "x"]);
    await held.arrived;
    expect(await countOf(id)).toBe(0);
    held.release();
    await writing;
    expect(await countOf(id)).toBe(1);
  });

  it("holds after: effective at the server, nothing told to the client until the release", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    const id = newRunToken();
    const held = recorder.hold(({ side }) => side === "after");
    let told = false;
    const writing = tapped.query(insert, [id, "x"]).then(() => (told = true));
    await held.arrived;
    expect(await countOf(id)).toBe(1);
    expect(told).toBe(false);
    held.release();
    await writing;
  });

  it("lets notifications through at once while an answer is withheld", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    await tapped.query("listen wake");
    const held = recorder.hold(({ side }) => side === "after");
    const writing = tapped.query(insert, [newRunToken(), "x"]);
    await held.arrived;
    const notified = new Promise((resolve) => tapped.once("notification", resolve));
    await rig.direct.query("notify wake, 'now'");
    expect(await notified).toMatchObject({ channel: "wake", payload: "now" });
    held.release();
    await writing;
  });

  it("drops a request: the client's connection breaks and nothing happened", async () => {
    const { recorder, client } = await rig.openTap();
    const tapped = await client();
    const id = newRunToken();
    recorder.once(({ side }) => side === "before", { do: "drop" });
    await expect(tapped.query(insert, [id, "x"])).rejects.toThrow(/terminated/);
    expect(await countOf(id)).toBe(0);
    expect(recorder.of("after")).toEqual([]);
  });

  it.each([
    ["after", { do: "drop" }],
    ["before", { do: "drop-answer" }],
    ["after", { do: "reset" }],
  ] as const)(
    "drops an answer (%s: %o): the client's connection breaks and it happened",
    async (side, decision) => {
      const { recorder, client } = await rig.openTap();
      const tapped = await client();
      const id = newRunToken();
      recorder.once((event) => event.side === side, decision);
      await expect(tapped.query(insert, [id, "x"])).rejects.toThrow(/terminated|ECONNRESET/);
      expect(await countOf(id)).toBe(1);
      expect(recorder.of("after")).toHaveLength(1);
    },
  );

  it("drops what is held when the process goes away", async () => {
    const { tap, recorder, client } = await rig.openTap();
    const tapped = await client();
    const id = newRunToken();
    const held = recorder.hold(({ side }) => side === "before");
    const writing = tapped.query(insert, [id, "x"]);
    await held.arrived;
    (tapped as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    await expect(writing).rejects.toThrow(/terminated/);
    await tap.whenDisconnected();
    held.release();
    expect(await countOf(id)).toBe(0);
  });

  it("sends a late packet although its process is gone", async () => {
    const { tap, recorder, client } = await rig.openTap();
    const tapped = await client();
    const id = newRunToken();
    const held = recorder.hold(({ side }) => side === "before", true);
    const writing = tapped.query(insert, [id, "x"]);
    await held.arrived;
    const gone = ended(tapped);
    (tapped as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    await expect(writing).rejects.toThrow(/terminated/);
    await gone;
    await tap.whenDisconnected();
    tap.destroyUpstream();
    expect(await countOf(id)).toBe(0);
    const after = recorder.next(({ side }) => side === "after");
    held.release();
    expect(await after).toMatchObject({ status: "INSERT 0 1" });
    expect(await countOf(id)).toBe(1);
  });

  it("ends the backend when the upstream is destroyed", async () => {
    const { tap, client } = await rig.openTap();
    const tapped = await client();
    const lock = 4_711;
    await tapped.query("select pg_advisory_lock($1)", [lock]);
    tap.destroyUpstream();
    // Granted only when the backend that holds it has ended.
    const granted = await rig.direct.query("select pg_advisory_lock($1), true as granted", [lock]);
    expect(granted.rows[0]).toMatchObject({ granted: true });
    await rig.direct.query("select pg_advisory_unlock($1)", [lock]);
    await tap.whenDisconnected();
  });

  it("keeps a standby from writing and lets it read", async () => {
    const { tap, recorder, client } = await rig.openTap({ standby: true });
    const tapped = await client();
    expect((await tapped.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    const id = newRunToken();
    const writing = tapped.query(insert, [id, "x"]);
    // A second connection's reads come and go while the first one's write waits.
    await (await client()).query("select 1");
    expect(await countOf(id)).toBe(0);
    expect(recorder.events).toEqual([]);
    tap.activate();
    await writing;
    expect(await countOf(id)).toBe(1);
  });

  it("knows from the catalogue which functions of the database write", async () => {
    await rig.direct.query(`
      create function put_item(id text) returns void language plpgsql as $$ begin insert into item values (id); end $$;
      create function put_twice(id text) returns void language sql as $$ select put_item(id || '-x'), put_item(id || '-y') $$;
      create function put_again(id text) returns void language sql as $$ select put_twice(id) $$;
      create function lab_now() returns timestamptz language sql as $$ select clock_timestamp() $$;
      create function looks(id text) returns bigint language plpgsql stable as $$ begin return 1; end $$;`);
    const functions = await loadFunctionKnowledge(async (sql) => (await rig.direct.query(sql)).rows);
    const { recorder, client } = await rig.openTap({ functions });
    const tapped = await client();
    const token = newRunToken();
    for (const name of ["lab_now()", "looks($1)", "put_item($1)", "put_again($1)"]) {
      await tapped.query(`select ${name}`, name.includes("$1") ? [`${token}-${name.length}`] : []);
    }
    expect(recorder.of("after").map(({ label }) => label.replace(/ [0-9a-f]{16}$/, ""))).toEqual([
      "call put_item",
      "call put_again",
    ]);
  });

  it("counts connections by generation", async () => {
    const { tap, client } = await rig.openTap();
    const second = tap.whenConnected(2);
    await (await client()).end();
    await tap.whenDisconnected();
    await client();
    await second;
    expect(tap.connections()).toMatchObject({ opened: 2, open: [{ generation: 2 }] });
  });

  it("reports a decision that doesn't fit as a fault and goes on", async () => {
    const { recorder, client } = await rig.openTap();
    recorder.once(({ side }) => side === "before", { do: "duplicate" });
    await (await client()).query(insert, [newRunToken(), "x"]);
    expect(recorder.faults()).toEqual([expect.stringContaining('"duplicate" can\'t be done')]);
  });
});
