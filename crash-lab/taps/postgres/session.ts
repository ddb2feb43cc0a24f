/**
 * One connection of the process to its database, with the connection to the server that belongs to it.
 *
 * Client to server, batches go one after the other: each waits for its ruling *before* and is then forwarded
 * whole. Server to client, answers go in order: that of a boundary event waits for its ruling *after*. What comes
 * unasked passes at once.
 */
import type { Socket } from "node:net";
import type { ConnectionInfo, Side } from "../event.js";
import { Departure, type EventDraft, type Observer } from "../observer.js";
import type { StandbyGate } from "../standby.js";
import { AnswerStream, withheldBytesMax } from "./answers.js";
import type { Batch } from "./batch.js";
import {
  bulkFromClient,
  bulkFromServer,
  fromClient,
  fromServer,
  transactionStatus,
  unasked,
} from "./codes.js";
import { FrameReader, type Frame } from "./frames.js";
import { readBackendPid, readTransactionStatus } from "./messages.js";
import { ReplyReader } from "./replies.js";
import { RequestReader, type Segment } from "./requests.js";
import { RowTokenScanner } from "./row-fields.js";
import type { StatementReader } from "./statements.js";

export interface SessionOptions {
  readonly client: Socket;
  /** Connected, or connecting. */
  readonly upstream: Socket;
  readonly connection: ConnectionInfo;
  readonly observer: Observer;
  readonly standby: StandbyGate;
  readonly statements: StatementReader;
}

/** What waits to be forwarded, in the client's order. */
type Outgoing =
  | { readonly segment: Segment; readonly bytes: Buffer }
  | { readonly bytes: Buffer; readonly ends?: "copy" | "session" };

const copyResponses: ReadonlySet<number> = new Set([
  fromServer.copyInResponse,
  fromServer.copyOutResponse,
  fromServer.copyBothResponse,
]);

export class PostgresSession {
  private readonly departure = new Departure();
  private readonly clientFrames = new FrameReader(bulkFromClient);
  private readonly serverFrames = new FrameReader(bulkFromServer);
  private readonly requests: RequestReader;
  private readonly replies = new ReplyReader((batch) => this.completed(batch));
  private readonly answers: AnswerStream;
  private readonly outgoing: Outgoing[] = [];
  private outgoingBytes = 0;
  private sending = false;
  private rows: { readonly batch: Batch; readonly scanner: RowTokenScanner } | null = null;
  private backendPid: number | null = null;
  /** A message that outlives the process is on its way. */
  private outliving = 0;
  private terminated = false;

  constructor(private readonly options: SessionOptions) {
    const { client, upstream, observer } = options;
    this.requests = new RequestReader(options.statements);
    this.answers = new AnswerStream(client, upstream);
    client.on("close", () => this.clientGone());
    upstream.on("data", (chunk: Buffer) => this.guard(() => this.fromServer(chunk)));
    upstream.on("drain", () => client.resume());
    upstream.on("end", () => {
      this.replies.abandon();
      this.answers.endWhenEmpty();
    });
    upstream.on("error", (error) => {
      observer.note({ note: "upstream-lost", reason: error.message });
      this.replies.abandon();
      client.resetAndDestroy();
    });
    upstream.on("close", () => {
      this.replies.abandon();
      this.answers.endWhenEmpty();
    });
  }

  /** Bytes that the client sent after its first request. */
  fromClient(chunk: Buffer): void {
    this.guard(() => {
      for (const frame of this.clientFrames.read(chunk)) this.clientFrame(frame);
    });
  }

  /** As the death of the process would break it. */
  destroyUpstream(): void {
    if (this.outliving === 0) this.options.upstream.destroy();
  }

  destroy(): void {
    this.options.client.destroy();
    this.options.upstream.destroy();
  }

  private clientFrame({ code, bytes, first }: Frame): void {
    switch (code) {
      case fromClient.copyData:
        if (first) this.enqueueEarly();
        return this.enqueue({ bytes });
      case fromClient.copyDone:
      case fromClient.copyFail:
        this.enqueueEarly();
        return this.enqueue({ bytes, ends: "copy" });
      case fromClient.terminate:
        this.enqueueEarly();
        return this.enqueue({ bytes, ends: "session" });
      case fromClient.authentication:
        return this.enqueue({ bytes });
      default: {
        const segment = this.requests.take(code, bytes);
        if (segment !== undefined) this.enqueue({ segment, bytes: segment.batch.bytes() });
      }
    }
  }

  private enqueueEarly(): void {
    const segment = this.requests.endEarly();
    if (segment !== undefined) this.enqueue({ segment, bytes: segment.batch.bytes() });
  }

  private enqueue(item: Outgoing): void {
    this.outgoing.push(item);
    this.outgoingBytes += item.bytes.length;
    // While a batch is held the socket is still read, else the death of its process would go unnoticed; but a
    // client that goes on sending is slowed down in the end.
    if (this.outgoingBytes > withheldBytesMax) this.options.client.pause();
    if (!this.sending) void this.sendAll();
  }

  /** Runs without a pause up to the first boundary event, so ordinary traffic keeps its pace. */
  private async sendAll(): Promise<void> {
    this.sending = true;
    for (let item = this.outgoing.shift(); item !== undefined; item = this.outgoing.shift()) {
      this.outgoingBytes -= item.bytes.length;
      if ("segment" in item) {
        if (item.segment.batch.isBoundary && !(await this.mayForward(item.segment.batch))) break;
        this.replies.expect(item.segment.expectations);
      } else if (item.ends === "copy") this.replies.copyEnded();
      else if (item.ends === "session") this.terminated = true;
      this.send(item.bytes);
    }
    this.sending = false;
  }

  private send(bytes: Buffer): void {
    const { upstream, client } = this.options;
    if (upstream.destroyed) return;
    if (!upstream.write(bytes)) client.pause();
    else if (client.isPaused() && this.outgoingBytes <= withheldBytesMax) client.resume();
  }

  private async mayForward(batch: Batch): Promise<boolean> {
    const { observer, standby } = this.options;
    if (!standby.active) await Promise.race([standby.whenActive(), this.departure.gone]);
    batch.exchange = observer.nextExchange();
    // Whose claim it is shows only in the rows it returns; then there is nothing to ask about before.
    if (batch.runTokens().length === 0) return !this.departure.isGone;
    let outlives = false;
    const ruling = await observer.rule(this.draft(batch, "before"), this.departure, {
      outliving: () => {
        if (!outlives) this.outliving += 1;
        outlives = true;
      },
    });
    if (outlives && ruling !== "forward" && ruling !== "drop-answer") this.outliving -= 1;
    if (ruling === "drop" || ruling === "reset") {
      this.breakConnection(ruling);
      return false;
    }
    batch.outlives = outlives;
    batch.dropAnswer = ruling === "drop-answer";
    return true;
  }

  private fromServer(chunk: Buffer): void {
    for (const frame of this.serverFrames.read(chunk)) this.serverFrame(frame);
  }

  private serverFrame({ code, bytes, first }: Frame): void {
    if (unasked.has(code)) return this.answers.interject(bytes);
    if (code === fromServer.backendKeyData) this.backendPid = readBackendPid(bytes);
    const batch = this.replies.batchOf();
    if (batch === undefined) return this.answers.pass(bytes);
    if (code === fromServer.dataRow && batch.claims) this.scanRow(batch, bytes, first);
    if (!batch.isBoundary) this.answers.pass(bytes);
    else if (copyResponses.has(code)) {
      // The client has to see it before it can go on with the copy.
      batch.gate?.open();
      batch.gate = null;
      this.answers.pass(bytes);
    } else {
      batch.gate ??= this.answers.gate();
      batch.gate.add(bytes, bulkFromServer.has(code));
    }
    if (first) this.replies.take(code, bytes);
    if (code === fromServer.readyForQuery && this.replies.isIdle && !this.sending) {
      this.requests.settle(readTransactionStatus(bytes) !== transactionStatus.idle);
    }
  }

  private scanRow(batch: Batch, bytes: Buffer, first: boolean): void {
    if (this.rows?.batch !== batch) this.rows = { batch, scanner: new RowTokenScanner() };
    this.rows.scanner.push(bytes, first);
  }

  /** The server has answered all of a batch. */
  private completed(batch: Batch): void {
    if (this.rows?.batch === batch) {
      for (const token of this.rows.scanner.tokens) {
        batch.answerTokens.add(token);
        batch.transaction.tokens.add(token);
      }
    }
    if (batch.writes && batch.sqlState === null && batch.rows !== 0) {
      batch.transaction.touchedRows = true;
    }
    // Whether a batch took effect whose connection broke can't be seen from here, so there is no "after" of it.
    if (batch.abandoned) batch.gate?.open();
    else if (batch.isBoundary) void this.finish(batch);
  }

  private async finish(batch: Batch): Promise<void> {
    const ruling = await this.options.observer.rule(this.draft(batch, "after"), this.departure);
    if (batch.outlives) {
      this.outliving -= 1;
      if (this.departure.isGone && this.outliving === 0) this.options.upstream.destroy();
    }
    if (ruling === "reset") this.breakConnection("reset");
    else if (ruling === "drop" || batch.dropAnswer) this.breakConnection("drop");
    else batch.gate?.open();
  }

  private draft(batch: Batch, side: Side): EventDraft {
    const runTokens = batch.runTokens();
    const nobodys = runTokens.length === 0;
    const empty = side === "after" && nobodys && batch.isEmpty;
    return {
      label: batch.label(),
      side,
      exchange: batch.exchange,
      runTokens,
      access: "write",
      service: nobodys && (empty || batch.isDefinition),
      noWindow: batch.isDefinition ? "definition" : empty ? "empty-claim" : null,
      key: batch.key,
      digest: batch.digest(),
      status: side === "after" ? batch.status() : null,
      details: {
        kind: "postgres",
        connection: this.options.connection,
        backendPid: this.backendPid,
        statements: batch.describeStatements(),
        commits: batch.commitOf !== null,
        rows: side === "after" ? batch.rows : null,
      },
    };
  }

  private breakConnection(how: "drop" | "reset"): void {
    const { client } = this.options;
    if (how === "reset") client.resetAndDestroy();
    else client.destroy();
    this.destroyUpstream();
  }

  private clientGone(): void {
    this.departure.announce();
    if (this.outliving > 0) return;
    // After a Terminate the server is given the chance to read it; anything else is a broken connection.
    if (this.terminated) this.options.upstream.end();
    else this.options.upstream.destroy();
  }

  /** Bytes that can't be followed end the connection: wrong events are worse than none. */
  private guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.options.observer.fault(error instanceof Error ? error.message : String(error));
      this.destroy();
    }
  }
}
