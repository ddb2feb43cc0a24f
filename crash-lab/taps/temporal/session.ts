/**
 * One connection of the process to Temporal. Every call on it goes its own way: polls and answers to tasks may be
 * held for as long as it takes while the others pass.
 */
import { createHash } from "node:crypto";
import type http2 from "node:http2";
import { constants } from "node:http2";
import type { ConnectionInfo, DeliveredTask, NoWindowReason, Side } from "../event.js";
import { Departure, messageOf, type EventDraft, type Observer } from "../observer.js";
import type { StandbyGate } from "../standby.js";
import { runTokensIn } from "../tokens.js";
import {
  callOf,
  closesWorkflow,
  commandsLabel,
  deliveredTasks,
  isQueryDelivery,
  kindOf,
  noFacts,
  requestFacts,
  type CallKind,
  type RequestFacts,
} from "./calls.js";
import type { DeliveryBook } from "./deliveries.js";
import { breakCall, collectRequest, exchange, passThrough, respond, type Answer } from "./exchange.js";
import { unaryMessage } from "./grpc-frames.js";
import { UpstreamLink, type TemporalUpstream } from "./upstream.js";

export interface SessionOptions {
  readonly upstream: TemporalUpstream;
  readonly connection: ConnectionInfo;
  readonly observer: Observer;
  readonly standby: StandbyGate;
  readonly deliveries: DeliveryBook;
  /** Breaks the process's connection by a TCP reset. */
  readonly resetConnection: () => void;
}

/** A call as far as it is known before it was forwarded. */
interface Call {
  readonly name: string;
  readonly kind: CallKind;
  readonly body: Buffer;
  readonly facts: RequestFacts;
  readonly task: DeliveredTask | null;
  readonly requestTokens: readonly string[];
  readonly exchange: number;
}

export class TemporalSession {
  private readonly link: UpstreamLink;
  private outliving = 0;
  private clientGone = false;
  private readonly departures = new Set<Departure>();

  constructor(
    private readonly client: http2.ServerHttp2Session,
    private readonly options: SessionOptions,
  ) {
    this.link = new UpstreamLink(options.upstream, (reason) => {
      options.observer.note({ note: "upstream-lost", reason });
      client.destroy();
    });
    // A broken connection shows at "close"; without a listener the error would end the lab.
    client.on("error", () => {});
    client.on("stream", (stream, headers) => void this.take(stream, headers));
    client.on("close", () => {
      this.clientGone = true;
      for (const departure of this.departures) departure.announce();
      this.destroyUpstream();
    });
  }

  /** As the death of the process would break it; a process that still lives sees its connection break. */
  destroyUpstream(): void {
    if (this.outliving > 0) return;
    this.link.destroy();
    this.client.destroy();
  }

  destroy(): void {
    this.client.destroy();
    this.link.destroy();
  }

  private async take(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): Promise<void> {
    stream.on("error", () => {});
    const name = callOf(String(headers[":path"]));
    const kind = kindOf(name);
    const { observer } = this.options;
    if (kind === "service") {
      observer.countService(name);
      return passThrough(stream, this.link.request(headers));
    }
    const departure = new Departure();
    this.departures.add(departure);
    stream.on("close", () => {
      departure.announce();
      this.departures.delete(departure);
    });
    const body = await collectRequest(stream);
    if (body === null) return;
    try {
      const call = this.callFrom(name, kind, headers, body);
      if (kind === "poll") await this.poll(stream, headers, call, departure);
      else await this.cross(stream, headers, call, departure);
    } catch (error) {
      // The call or its connection broke on the server's side; so it does for the process.
      if (!departure.isGone) observer.note({ note: "upstream-lost", reason: messageOf(error) });
      breakCall(stream);
    }
  }

  private callFrom(name: string, kind: CallKind, headers: http2.IncomingHttpHeaders, body: Buffer): Call {
    const message = this.unpack(name, body, headers);
    const facts = this.readable(name, () => requestFacts(name, message), noFacts);
    const task = facts.taskToken === null ? null : this.options.deliveries.of(facts.taskToken);
    const ofWorkflow = runTokensIn(task?.workflowId ?? facts.workflowId ?? "");
    return {
      name,
      kind,
      body,
      facts,
      task,
      // Payloads can speak of other runs, so they count only when the workflow's own id says nothing.
      requestTokens: ofWorkflow.length > 0 || kind === "poll" ? ofWorkflow : runTokensIn(message),
      exchange: this.options.observer.nextExchange(),
    };
  }

  /** A poll belongs to nobody until its answer brings a task. */
  private async poll(
    stream: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    call: Call,
    departure: Departure,
  ): Promise<void> {
    const { standby, observer } = this.options;
    if (!standby.active) await Promise.race([standby.whenActive(), departure.gone]);
    if (departure.isGone) return;
    const answer = await this.forward(headers, call, departure);
    const message = this.unpack(call.name, answer.body, answer.headers);
    const delivered = this.recordDeliveries(call, message);
    if (delivered.length === 0) {
      observer.countService(call.name);
      return respond(stream, answer);
    }
    const noWindow = isQueryDelivery(call.name, message) ? "query" : null;
    await this.after(stream, call, answer, delivered, departure, noWindow);
  }

  private async cross(
    stream: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    call: Call,
    departure: Departure,
  ): Promise<void> {
    let outlives = false;
    const ruling = await this.options.observer.rule(this.draft(call, "before", null, []), departure, {
      outliving: () => {
        if (!outlives) this.outliving += 1;
        outlives = true;
      },
    });
    try {
      if (ruling === "drop") return breakCall(stream);
      if (ruling === "reset") return this.options.resetConnection();
      const answer = await this.forward(headers, call, outlives ? undefined : departure);
      const delivered = this.recordDeliveries(call, this.unpack(call.name, answer.body, answer.headers));
      if (call.facts.taskToken !== null && call.kind === "task-answer" && statusOf(answer) === "0") {
        this.options.deliveries.answered(call.facts.taskToken);
      }
      const closing = closesWorkflow(call.facts.commands) ? "closing-task" : null;
      await this.after(stream, call, answer, delivered, departure, closing, ruling === "drop-answer");
    } finally {
      if (outlives) this.outliving -= 1;
      if (this.clientGone) this.destroyUpstream();
    }
  }

  private async after(
    stream: http2.ServerHttp2Stream,
    call: Call,
    answer: Answer,
    delivered: readonly DeliveredTask[],
    departure: Departure,
    noWindow: NoWindowReason | null,
    dropAnswer = false,
  ): Promise<void> {
    const draft = this.draft(call, "after", statusOf(answer), delivered, noWindow);
    const ruling = await this.options.observer.rule(draft, departure);
    if (ruling === "reset") this.options.resetConnection();
    else if (ruling === "drop" || dropAnswer) breakCall(stream);
    else respond(stream, answer);
  }

  /** @param departure cancels the call at the server when the process gives it up; undefined for one that goes on. */
  private forward(
    headers: http2.IncomingHttpHeaders,
    call: Call,
    departure: Departure | undefined,
  ): Promise<Answer> {
    const upstream = this.link.request(headers);
    void departure?.gone.then(() => {
      if (!upstream.closed) upstream.close(constants.NGHTTP2_CANCEL);
    });
    return exchange(upstream, call.body);
  }

  private recordDeliveries(call: Call, message: Buffer): DeliveredTask[] {
    const identity = call.facts.identity || (call.task?.identity ?? "");
    const delivered = this.readable(call.name, () => deliveredTasks(call.name, message, identity), []);
    for (const task of delivered) this.options.deliveries.add(task);
    return delivered;
  }

  private unpack(name: string, body: Buffer, headers: http2.IncomingHttpHeaders): Buffer {
    const encoding = String(headers["grpc-encoding"] ?? "identity");
    return this.readable(name, () => unaryMessage(body, encoding), null) ?? Buffer.alloc(0);
  }

  /** What can't be read passes all the same; that it wasn't understood is the tap's fault and not the process's. */
  private readable<T>(name: string, read: () => T, otherwise: T): T {
    try {
      return read();
    } catch (error) {
      this.options.observer.fault(`${name}: ${messageOf(error)}`);
      return otherwise;
    }
  }

  private draft(
    call: Call,
    side: Side,
    status: string | null,
    delivered: readonly DeliveredTask[],
    noWindow: NoWindowReason | null = null,
  ): EventDraft {
    const task = call.task ?? (call.kind === "poll" ? (delivered[0] ?? null) : null);
    const workflowId = task?.workflowId ?? call.facts.workflowId;
    const activityId = task?.activityId ?? call.facts.activityId;
    const tokens = call.requestTokens.length > 0 ? call.requestTokens : runTokensIn(workflowId ?? "");
    return {
      label: labelOf(call, task),
      side,
      exchange: call.exchange,
      runTokens: tokens,
      access: call.kind === "poll" ? "delivery" : "write",
      noWindow: call.kind === "heartbeat" ? "heartbeat" : noWindow,
      key: workflowId === null ? null : [workflowId, activityId].filter((part) => part !== null).join("/"),
      digest: createHash("sha256").update(call.body).digest("hex"),
      status,
      details: {
        kind: "temporal",
        connection: this.options.connection,
        call: call.name,
        workflowId,
        workflowType: task?.workflowType ?? call.facts.workflowType,
        commands: call.facts.commands,
        task: call.task,
        delivered,
      },
    };
  }
}

/** `RespondActivityTaskCompleted:invoiceApproval:postInvoice`; the parts that a call doesn't carry are left out. */
function labelOf(call: Call, task: DeliveredTask | null): string {
  const parts = [
    call.name,
    task?.workflowType ?? call.facts.workflowType,
    task?.activityType,
    ...call.facts.names,
  ];
  if (call.name === "RespondWorkflowTaskCompleted") parts.push(commandsLabel(call.facts.commands));
  return parts.filter((part) => part !== null && part !== undefined && part !== "").join(":");
}

/** gRPC's status code; an answer without trailers carries it in its headers. */
function statusOf(answer: Answer): string {
  return String(answer.trailers?.["grpc-status"] ?? answer.headers["grpc-status"] ?? "");
}
