/** Ways to use the protocol that few clients take: copying by the extended protocol, errors before a Sync. */
import type { EventEmitter } from "node:events";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { newRunToken } from "../../../../crash-lab/taps/tokens.js";
import { openPostgresRig, type PostgresRig } from "./rig.js";

let rig: PostgresRig;
beforeAll(async () => {
  rig = await openPostgresRig(inject("postgresUrl"));
});
afterAll(() => rig.close());

/** What `pg` calls on its connection; its types leave these out. */
interface RawConnection extends EventEmitter {
  parse(query: { name?: string; text: string }): void;
  bind(config: { statement?: string; portal?: string; values?: unknown[] }): void;
  describe(message: { type: "P" | "S"; name?: string }): void;
  execute(config: { portal?: string }): void;
  flush(): void;
  sync(): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

type Send = (connection: RawConnection) => void;

interface RawResult {
  readonly tags: string[];
  readonly errors: string[];
}

/** Sends messages as they are told and collects what comes until `readies` times ReadyForQuery. */
class RawQuery {
  private readonly result: RawResult = { tags: [], errors: [] };
  private resolve!: (result: RawResult) => void;
  readonly done = new Promise<RawResult>((resolve) => (this.resolve = resolve));

  constructor(
    private readonly send: Send,
    private readonly onCopyIn: Send = () => {},
  ) {}

  submit(connection: RawConnection): void {
    this.send(connection);
  }
  handleCopyInResponse(connection: RawConnection): void {
    this.onCopyIn(connection);
  }
  handleCommandComplete({ text }: { text: string }): void {
    this.result.tags.push(text);
  }
  handleError(error: { code: string }): void {
    this.result.errors.push(error.code);
    // The client takes a query that failed for done and tells it nothing more.
    this.resolve(this.result);
  }
  handleReadyForQuery(): void {
    this.resolve(this.result);
  }
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

function raw(client: pg.Client, send: Send, onCopyIn?: Send): Promise<RawResult> {
  const query = new RawQuery(send, onCopyIn);
  client.query(query as unknown as pg.Submittable);
  return query.done;
}

const verbs = (events: readonly { label: string }[]) => events.map(({ label }) => label.split(" ")[0]);

describe("the protocol, used in its own ways through the tap", () => {
  it("copies in by the extended protocol, whose first Sync the server ignores", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    const copy: Send = (connection) => {
      connection.parse({ text: "copy item(id) from stdin" });
      connection.bind({});
      connection.execute({});
      connection.sync();
    };
    const result = await raw(tapped, copy, (connection) => {
      connection.sendCopyFromChunk(Buffer.from(`${token}-1\n${token}-2\n`));
      connection.endCopyFrom();
      connection.sync();
    });
    expect(result).toEqual({ tags: ["COPY 2"], errors: [] });
    // It is committed by the second Sync, so that is an event of its own.
    expect(recorder.of("after").map(({ label, status }) => [label.split(" ")[0], status])).toEqual([
      ["copy", "COPY 2"],
      ["commit", "COMMIT"],
    ]);
    const failed = await raw(tapped, copy, (connection) => {
      connection.sendCopyFail("no");
      connection.sync();
    });
    expect(failed).toEqual({ tags: [], errors: ["57014"] });
    expect((await tapped.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    expect(recorder.faults()).toEqual([]);
  });

  it("refuses a copy into a table that isn't there, and goes on", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const result = await raw(tapped, (connection) => {
      connection.parse({ text: "copy nothing from stdin" });
      connection.bind({});
      connection.execute({});
      connection.sync();
    });
    expect(result.errors).toEqual(["42P01"]);
    await tapped.query("insert into item(id) values ($1)", [newRunToken()]);
    expect(verbs(recorder.of("after"))).toEqual(["copy", "insert"]);
    expect(recorder.of("after").at(-1)).toMatchObject({ status: "INSERT 0 1", attribution: "run" });
  });

  it("skips to the Sync after an error, and forgets the names that the server never took", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    const result = await raw(tapped, (connection) => {
      connection.parse({ text: "insert into item(id) values ($1)" });
      connection.bind({ values: [`${token}-1`] });
      connection.execute({});
      connection.parse({ text: "select 1 / 0" });
      connection.bind({});
      connection.execute({});
      connection.parse({ name: "later", text: "delete from item where id = $1" });
      connection.bind({ statement: "later", values: [`${token}-1`] });
      connection.execute({});
      connection.sync();
    });
    expect(result.errors).toEqual(["22012"]);
    const unknown = await raw(tapped, (connection) => {
      connection.bind({ statement: "later", values: [`${token}-1`] });
      connection.execute({});
      connection.sync();
    });
    expect(unknown.errors).toEqual(["26000"]);
    const after = await raw(tapped, (connection) => {
      connection.parse({ name: "later", text: "update item set note = $1 where false" });
      connection.bind({ statement: "later", values: [token] });
      connection.execute({});
      connection.sync();
    });
    expect(after.errors).toEqual([]);
    expect(recorder.of("after").map(({ label, status }) => [label.split(" ")[0], status])).toEqual([
      ["insert", "22012"],
      ["update", "UPDATE 0"],
    ]);
    expect((await rig.direct.query("select from item where id = $1", [`${token}-1`])).rowCount).toBe(0);
  });

  it("runs several portals before one Sync, with a Flush between", async () => {
    const { client, recorder } = await rig.openTap();
    const tapped = await client();
    const token = newRunToken();
    const result = await raw(tapped, (connection) => {
      connection.parse({ name: "put", text: "insert into item(id) values ($1)" });
      connection.bind({ portal: "a", statement: "put", values: [`${token}-a`] });
      connection.bind({ portal: "b", statement: "put", values: [`${token}-b`] });
      connection.execute({ portal: "a" });
      connection.flush();
      connection.execute({ portal: "b" });
      connection.sync();
    });
    expect(result.tags).toEqual(["INSERT 0 1", "INSERT 0 1"]);
    expect(recorder.of("after").map(({ label, key }) => [label.split(" ")[0], key])).toEqual([
      ["insert", `${token}-a`],
      ["insert", `${token}-b`],
    ]);
  });
});
