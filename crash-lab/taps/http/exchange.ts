/** One request through the tap: seen, ruled on, forwarded, its answer ruled on and passed back. */
import { createHash } from "node:crypto";
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { ConnectionInfo, Side } from "../event.js";
import { Departure, messageOf, type EventDraft, type Observer, type Ruling } from "../observer.js";
import type { StandbyGate } from "../standby.js";
import { runTokensIn } from "../tokens.js";
import { idempotencyKeyOf, inspectBody, isRead, travellingHeaders, type InspectedBody } from "./messages.js";
import type { RouteTable } from "./routes.js";

export interface ExchangeOptions {
  readonly connection: ConnectionInfo;
  readonly observer: Observer;
  readonly standby: StandbyGate;
  readonly routes: RouteTable;
  readonly upstream: URL;
}

/** A request as it was sent to the other side, and what came back. */
interface Sent {
  readonly answer: http.IncomingMessage;
  readonly body: InspectedBody;
}

const serverError = 500;

export class HttpExchange {
  private readonly departure = new Departure();
  private readonly method: string;
  private readonly path: string;
  private readonly number: number;
  private readonly outgoing = new Set<http.ClientRequest>();
  private outlives = false;
  private tokens: readonly string[] = [];
  private body: InspectedBody = { head: Buffer.alloc(0), complete: false };
  private duplicateStatus: number | null = null;

  constructor(
    private readonly request: http.IncomingMessage,
    private readonly response: http.ServerResponse,
    private readonly options: ExchangeOptions,
  ) {
    this.method = request.method ?? "GET";
    this.path = request.url ?? "/";
    this.number = options.observer.nextExchange();
    response.on("close", () => this.clientGone());
  }

  belongsTo(socket: Socket): boolean {
    return this.request.socket === socket;
  }

  /** What is held for the process is dropped from now on. */
  clientGone(): void {
    this.departure.announce();
    this.destroyUpstream();
  }

  /** As the death of the process would break it. */
  destroyUpstream(): void {
    if (!this.outlives) for (const one of this.outgoing) one.destroy();
  }

  async run(): Promise<void> {
    try {
      await this.cross();
    } catch (error) {
      if (!this.departure.isGone)
        this.options.observer.note({ note: "upstream-lost", reason: messageOf(error) });
      this.request.socket.destroy();
    } finally {
      this.outlives = false;
    }
  }

  private async cross(): Promise<void> {
    const { standby } = this.options;
    this.body = await inspectBody(this.request);
    if (this.departure.isGone) return;
    this.tokens = this.tokensOfRequest();
    if (!standby.active && !isRead(this.method))
      await Promise.race([standby.whenActive(), this.departure.gone]);
    const ruling = await this.ruleBefore();
    if (ruling === "drop" || ruling === "reset") return this.breakConnection(ruling);
    const sent = await (ruling === "duplicate" ? this.sendTwice() : this.send());
    await this.answer(sent, ruling === "drop-answer");
  }

  /** Whose request it is may show only in the answer; then there is nothing to ask about before. */
  private async ruleBefore(): Promise<Ruling> {
    if (this.tokens.length === 0) return "forward";
    return this.options.observer.rule(this.draft("before", null), this.departure, {
      outliving: () => (this.outlives = true),
    });
  }

  private async answer({ answer, body }: Sent, dropAnswer: boolean): Promise<void> {
    if (this.tokens.length === 0) this.tokens = runTokensIn(body.head);
    const ruling = await this.options.observer.rule(
      this.draft("after", String(answer.statusCode)),
      this.departure,
    );
    if (ruling === "drop" || ruling === "reset" || dropAnswer) {
      answer.destroy();
      return this.breakConnection(ruling === "reset" ? "reset" : "drop");
    }
    if (ruling === "answer-500") {
      answer.destroy();
      this.response.writeHead(serverError, { "content-type": "text/plain" });
      this.response.end("The crash lab answers 500 although the request took effect.\n");
      return;
    }
    this.passBack(answer, body);
  }

  /** Both copies are answered before the process hears of the first. */
  private async sendTwice(): Promise<Sent> {
    if (!this.body.complete) {
      this.options.observer.fault(`"duplicate" can't be done at ${this.path}: its body is too large to keep`);
      return this.send();
    }
    const first = await this.send();
    const second = await this.send();
    this.duplicateStatus = second.answer.statusCode ?? null;
    second.answer.resume();
    return first;
  }

  /** @returns the answer once its status is known; its body is read as far as it is looked at. */
  private async send(): Promise<Sent> {
    const { upstream } = this.options;
    const secure = upstream.protocol === "https:";
    const outgoing = (secure ? https : http).request({
      host: upstream.hostname.replace(/^\[|\]$/g, ""),
      port: upstream.port === "" ? (secure ? 443 : 80) : Number(upstream.port),
      method: this.method,
      path: this.path,
      headers: this.headersFor(upstream),
      // A connection for each request: a kept one that the other side closes just then would look like its failure.
      agent: false,
      setHost: false,
    });
    this.outgoing.add(outgoing);
    outgoing.on("close", () => this.outgoing.delete(outgoing));
    const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.on("response", resolve);
      outgoing.on("error", reject);
      outgoing.on("close", () => reject(new Error("the connection ended without an answer")));
    });
    if (this.body.complete) outgoing.end(this.body.head);
    else {
      outgoing.write(this.body.head);
      this.request.pipe(outgoing);
    }
    const answer = await answered;
    // Broken off later: seen at the answer's own end.
    answer.on("error", () => this.request.socket.destroy());
    // Only an answer that may name the run has to be read before it is ruled on, and one before a second sending.
    const body =
      this.tokens.length === 0 ? await inspectBody(answer) : { head: Buffer.alloc(0), complete: false };
    return { answer, body };
  }

  private headersFor(upstream: URL): string[] {
    const headers = travellingHeaders(this.request.rawHeaders);
    for (let at = 0; at < headers.length; at += 2) {
      // In clear the name that the process used stays, so that links in answers lead back through the tap; with TLS
      // the other side wants its own.
      if (headers[at]!.toLowerCase() === "host" && upstream.protocol === "https:")
        headers[at + 1] = upstream.host;
    }
    const { headers: given } = this.request;
    if (given["transfer-encoding"] !== undefined) headers.push("transfer-encoding", "chunked");
    else if (given["content-length"] === undefined && !isRead(this.method))
      headers.push("content-length", "0");
    headers.push("connection", "close");
    return headers;
  }

  private passBack(answer: http.IncomingMessage, body: InspectedBody): void {
    if (this.response.destroyed) return void answer.destroy();
    if (answer.destroyed && !answer.complete) return this.breakConnection("drop");
    this.response.sendDate = false;
    this.response.writeHead(
      answer.statusCode ?? serverError,
      answer.statusMessage,
      travellingHeaders(answer.rawHeaders),
    );
    answer.on("close", () => {
      // An answer that was cut must not look whole.
      if (!answer.complete) this.request.socket.destroy();
    });
    this.response.write(body.head);
    const end = () => {
      if (answer.rawTrailers.length > 0)
        this.response.addTrailers(answer.trailers as http.OutgoingHttpHeaders);
      this.response.end();
    };
    if (body.complete) return end();
    answer.on("end", end);
    answer.pipe(this.response, { end: false });
  }

  private breakConnection(how: Extract<Ruling, "drop" | "reset">): void {
    if (how === "reset") this.request.socket.resetAndDestroy();
    else this.request.socket.destroy();
  }

  private tokensOfRequest(): string[] {
    const named = runTokensIn([this.path, ...this.request.rawHeaders].join("\n"));
    return named.length > 0 ? named : runTokensIn(this.body.head);
  }

  private draft(side: Side, status: string | null): EventDraft {
    const read = isRead(this.method);
    const route = this.options.routes.templateOf(this.method, this.path);
    return {
      label: `${this.method} ${route}`,
      side,
      exchange: this.number,
      runTokens: this.tokens,
      access: read ? "read" : "write",
      // A read that names no run changes nothing for any.
      service: read,
      noWindow: read ? "read" : null,
      key: idempotencyKeyOf(this.request.headers) ?? this.idInPath(),
      digest: this.body.complete ? createHash("sha256").update(this.body.head).digest("hex") : null,
      status,
      details: {
        kind: "http",
        connection: this.options.connection,
        method: this.method,
        route,
        path: this.path,
        duplicateStatus: this.duplicateStatus,
      },
    };
  }

  private idInPath(): string | null {
    return this.path.split(/[/?&=]/).find((part) => runTokensIn(decodeSafely(part)).length > 0) ?? null;
  }
}

function decodeSafely(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
