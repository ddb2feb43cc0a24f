/** The same bytes give the same messages and the same events, wherever the network cuts them. */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { beforeAll, describe, expect, it } from "vitest";
import { Observer } from "../../../../crash-lab/taps/observer.js";
import {
  bulkFromClient,
  bulkFromServer,
  fromClient,
  opening,
} from "../../../../crash-lab/taps/postgres/codes.js";
import { FrameReader, OpeningReader, ProtocolError } from "../../../../crash-lab/taps/postgres/frames.js";
import { readOpening } from "../../../../crash-lab/taps/postgres/messages.js";
import { PostgresSession } from "../../../../crash-lab/taps/postgres/session.js";
import {
  createStatementReader,
  type StatementReader,
} from "../../../../crash-lab/taps/postgres/statements.js";
import { StandbyGate } from "../../../../crash-lab/taps/standby.js";
import type { Recording } from "../recordings/record-postgres.js";
import { Recorder } from "../recorder.js";

const names = ["pg-transaction-cursor-copy", "postgres-prefer-pipeline"] as const;

interface Turn {
  readonly from: "client" | "server";
  readonly bytes: Buffer;
}

function turnsOf(name: string): Turn[] {
  const file = new URL(`../recordings/${name}.json`, import.meta.url);
  const recording = JSON.parse(readFileSync(file, "utf8")) as Recording;
  return recording.turns.map(({ from, bytes }) => ({ from, bytes: Buffer.from(bytes, "base64") }));
}

/** Without the requests that have no code, which come before everything else. */
function typedTurns(name: string): Turn[] {
  const turns = turnsOf(name);
  const started = turns.findIndex(
    ({ from, bytes }) => from === "client" && readOpening(bytes) !== opening.sslRequest,
  );
  return turns.slice(started + 1);
}

/** Whole messages: pieces of bulk ones joined again. */
function messages(chunks: readonly Buffer[], bulk: ReadonlySet<number>): string[] {
  const reader = new FrameReader(bulk);
  const found: string[] = [];
  let piece = "";
  for (const chunk of chunks) {
    for (const { bytes, last } of reader.read(chunk)) {
      piece += bytes.toString("hex");
      if (last) {
        found.push(piece);
        piece = "";
      }
    }
  }
  expect(reader.atBoundary).toBe(true);
  return found;
}

const singleBytes = (bytes: Buffer) => Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));

describe.each(names)("recording %s", (name) => {
  it.each([
    ["client", bulkFromClient],
    ["server", bulkFromServer],
  ] as const)("gives the same messages from the %s when cut at any byte", (from, bulk) => {
    const stream = Buffer.concat(
      typedTurns(name)
        .filter((turn) => turn.from === from)
        .map(({ bytes }) => bytes),
    );
    const whole = messages([stream], bulk);
    expect(whole.length).toBeGreaterThan(20);
    expect(whole.join("")).toBe(stream.toString("hex"));
    const wrong = Array.from({ length: stream.length - 1 }, (_, at) => at + 1).filter((cut) => {
      const found = messages([stream.subarray(0, cut), stream.subarray(cut)], bulk);
      return found.join() !== whole.join();
    });
    expect(wrong).toEqual([]);
    expect(messages(singleBytes(stream), bulk)).toEqual(whole);
  });
});

/** A socket whose other end is the test. */
class FakeSocket extends PassThrough {
  written: Buffer[] = [];
  override write(chunk: Buffer): boolean {
    this.written.push(chunk);
    return true;
  }
  override end(): this {
    return this;
  }
  arrive(chunk: Buffer): void {
    this.emit("data", chunk);
  }
  resetAndDestroy(): void {}
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Outcome {
  readonly events: unknown[];
  readonly toServer: string;
  readonly toClient: string;
}

async function replay(
  turns: readonly Turn[],
  statements: StatementReader,
  cut: (bytes: Buffer) => Buffer[],
): Promise<Outcome> {
  const recorder = new Recorder();
  const [client, upstream] = [new FakeSocket(), new FakeSocket()];
  const session = new PostgresSession({
    client: client as unknown as Socket,
    upstream: upstream as unknown as Socket,
    connection: { generation: 1, clientPort: 1 },
    observer: new Observer("worker", "postgres", recorder),
    standby: new StandbyGate(false),
    statements,
  });
  for (const { from, bytes } of turns) {
    for (const piece of cut(bytes)) {
      if (from === "client") session.fromClient(piece);
      else upstream.arrive(piece);
    }
    await settled();
  }
  expect(recorder.faults()).toEqual([]);
  const hex = (socket: FakeSocket) => Buffer.concat(socket.written).toString("hex");
  return {
    events: recorder.events.map((event) => ({ ...event, at: 0 })),
    toServer: hex(upstream),
    toClient: hex(client),
  };
}

describe.each(names)("a session fed with %s", (name) => {
  let statements: StatementReader;
  beforeAll(async () => {
    statements = await createStatementReader();
  });

  it("passes every byte on and makes the same events, cut into single bytes and at any byte", async () => {
    const turns = typedTurns(name);
    const whole = await replay(turns, statements, (bytes) => [bytes]);
    const sent = (from: Turn["from"]) =>
      Buffer.concat(turns.filter((turn) => turn.from === from).map(({ bytes }) => bytes)).toString("hex");
    expect(whole.toServer).toBe(sent("client"));
    expect(whole.toClient).toBe(sent("server"));
    expect(whole.events.length).toBeGreaterThan(4);
    expect(await replay(turns, statements, singleBytes)).toEqual(whole);
    const longest = Math.max(...turns.map(({ bytes }) => bytes.length));
    // Every turn is cut at the same place, so each cut is tried in all of them at once.
    for (let at = 1; at < Math.min(longest, 600); at += 1) {
      const found = await replay(turns, statements, (bytes) => [bytes.subarray(0, at), bytes.subarray(at)]);
      expect(found, `cut at ${at}`).toEqual(whole);
    }
  });

  it("takes several messages in one chunk", async () => {
    const turns = typedTurns(name);
    const longest = turns
      .filter(({ from }) => from === "client")
      .map(({ bytes }) => messages([bytes], bulkFromClient).length);
    expect(Math.max(...longest)).toBeGreaterThan(3);
  });
});

describe("events of the recorded transaction", () => {
  it("are the statements that wrote, in their order", async () => {
    const statements = await createStatementReader();
    const { events } = await replay(typedTurns(names[0]), statements, (bytes) => [bytes]);
    const seen = (events as { side: string; label: string; status: string }[])
      .filter(({ side }) => side === "after")
      .map(({ label, status }) => `${label.split(" ")[0]} ${status}`);
    expect(seen).toEqual([
      "create CREATE TABLE",
      "insert INSERT 0 1",
      "update UPDATE 1",
      "commit COMMIT",
      "insert 23505",
      "insert suspended",
      "commit COMMIT",
      "copy COPY 2",
      "delete BEGIN; DELETE 8; ROLLBACK",
    ]);
  });
});

describe("bytes that are no protocol", () => {
  it("are refused instead of turned into messages", () => {
    const reader = new FrameReader(bulkFromClient);
    expect(() => [...reader.read(Buffer.from([fromClient.query, 0xff, 0xff, 0xff, 0xff]))]).toThrow(
      ProtocolError,
    );
    expect(() => new OpeningReader().read(Buffer.from("GET / HTTP/1.1\r\n"))).toThrow(/first request claims/);
  });

  it("of an opening cut at any byte give the same request", () => {
    const request = turnsOf(names[0])[0]!.bytes;
    for (let cut = 0; cut < request.length; cut += 1) {
      const reader = new OpeningReader();
      expect(reader.read(request.subarray(0, cut))).toBeUndefined();
      expect(reader.read(Buffer.concat([request.subarray(cut), Buffer.from("rest")]))).toEqual({
        request,
        rest: Buffer.from("rest"),
      });
    }
  });
});
