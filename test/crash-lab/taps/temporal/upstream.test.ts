/** The tap against a server that does what servers do on bad days: new connections asked for, calls reset, no answer. */
import { once } from "node:events";
import http2 from "node:http2";
import type net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { openTemporalTap } from "../../../../crash-lab/taps/temporal/temporal-tap.js";
import type { TemporalUpstream } from "../../../../crash-lab/taps/temporal/upstream.js";
import { Recorder } from "../recorder.js";
import { certificate, key } from "./localhost-certificate.js";

type Serve = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const service = "/temporal.api.workflowservice.v1.WorkflowService";
const emptyMessage = Buffer.alloc(5);

/** A gRPC answer with one message and its status in trailers. */
const answer: Serve = (stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-made-by": "the server" }));
  stream.end(emptyMessage);
};

async function openServer(serve: Serve, secure = false) {
  const sessions: http2.ServerHttp2Session[] = [];
  const server = secure ? http2.createSecureServer({ key, cert: certificate }) : http2.createServer();
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => sockets.add(socket));
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on("error", () => {});
    serve(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    // As the death of the server: no frame says farewell.
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  closers.push(stop);
  return { sessions, stop, port: (server.address() as net.AddressInfo).port };
}

async function openTap(upstream: TemporalUpstream) {
  const recorder = new Recorder();
  const tap = await openTemporalTap({ process: "worker", controller: recorder, upstream });
  closers.push(() => tap.close());
  const client = http2.connect(`http://127.0.0.1:${tap.port}`);
  client.on("error", () => {});
  closers.push(() => client.destroy());
  return { recorder, tap, client };
}

interface Reply {
  readonly headers: http2.IncomingHttpHeaders;
  readonly trailers: http2.IncomingHttpHeaders;
  readonly body: Buffer;
}

function send(client: http2.ClientHttp2Session, call: string, body = emptyMessage): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = client.request({ ":method": "POST", ":path": `${service}/${call}`, te: "trailers" });
    let [headers, trailers]: http2.IncomingHttpHeaders[] = [{}, {}];
    const chunks: Buffer[] = [];
    stream.on("response", (received) => (headers = received));
    stream.on("trailers", (received) => (trailers = received));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => resolve({ headers: headers!, trailers: trailers!, body: Buffer.concat(chunks) }));
    stream.on("error", reject);
    stream.end(body);
  });
}

/** A call that is an event, and one that only passes. */
const calls = ["TerminateWorkflowExecution", "DescribeWorkflowExecution"] as const;

describe("the connection behind the Temporal tap", () => {
  it.each(calls)("passes %s with its trailers", async (call) => {
    const { port } = await openServer(answer);
    const { client } = await openTap({ host: "127.0.0.1", port });
    const reply = await send(client, call);
    expect(reply.body).toEqual(emptyMessage);
    expect(reply.trailers).toMatchObject({ "grpc-status": "0", "x-made-by": "the server" });
  });

  it.each(calls)("passes an answer of %s that is headers only", async (call) => {
    const { port } = await openServer((stream) =>
      stream.respond({ ":status": 200, "grpc-status": "5", "grpc-message": "none" }, { endStream: true }),
    );
    const { client } = await openTap({ host: "127.0.0.1", port });
    expect((await send(client, call)).headers).toMatchObject({ "grpc-status": "5", "grpc-message": "none" });
  });

  it("speaks TLS and adds the API key towards the server", async () => {
    const seen: http2.IncomingHttpHeaders[] = [];
    const { port } = await openServer((stream, headers) => {
      seen.push(headers);
      answer(stream, headers);
    }, true);
    const { client } = await openTap({
      host: "localhost",
      port,
      tls: { ca: certificate },
      apiKey: "a key for tests",
    });
    for (const call of calls) await send(client, call);
    expect(seen).toHaveLength(2);
    for (const headers of seen) {
      expect(headers).toMatchObject({
        ":scheme": "https",
        ":authority": `localhost:${port}`,
        authorization: "Bearer a key for tests",
      });
    }
  });

  it("doesn't trust a server whose certificate nobody signed", async () => {
    const { port } = await openServer(answer, true);
    const { client, recorder } = await openTap({ host: "localhost", port, tls: true });
    const broken = once(client, "close");
    send(client, calls[0]).catch(() => {});
    await broken;
    expect(recorder.notes).toContainEqual({
      note: "upstream-lost",
      reason: expect.stringContaining("certificate"),
    });
  });

  it("takes a new connection when the server asks for it, and lets calls under way end on the old one", async () => {
    const waiting: http2.ServerHttp2Stream[] = [];
    let arrived!: () => void;
    const first = new Promise<void>((resolve) => (arrived = resolve));
    const server = await openServer((stream, headers) => {
      if (waiting.length > 0) return answer(stream, headers);
      waiting.push(stream);
      arrived();
    });
    const { client, recorder } = await openTap({ host: "127.0.0.1", port: server.port });
    const early = send(client, calls[0]);
    await first;
    // What a server says before it takes no more calls on a connection.
    server.sessions[0]!.goaway(http2.constants.NGHTTP2_NO_ERROR);
    // The farewell was read when the answer to a ping behind it has come.
    await new Promise<void>((resolve) => server.sessions[0]!.ping(() => resolve()));
    expect((await send(client, calls[1])).trailers["grpc-status"]).toBe("0");
    expect(server.sessions).toHaveLength(2);
    answer(waiting[0]!, {});
    expect((await early).trailers["grpc-status"]).toBe("0");
    expect(client.destroyed).toBe(false);
    expect(recorder.notes.filter(({ note }) => note === "upstream-lost")).toEqual([]);
  });

  it("breaks the process's connection when the server dies", async () => {
    let arrived!: () => void;
    const first = new Promise<void>((resolve) => (arrived = resolve));
    const server = await openServer(() => arrived());
    const { client, tap, recorder } = await openTap({ host: "127.0.0.1", port: server.port });
    send(client, calls[0]).catch(() => {});
    await first;
    const broken = once(client, "close");
    server.stop();
    await broken;
    await tap.whenDisconnected();
    expect(recorder.notes.filter(({ note }) => note === "upstream-lost")).not.toEqual([]);
    expect(recorder.of("after")).toEqual([]);
  });

  it.each(calls)("tells the process unavailable when the server resets %s", async (call) => {
    const { port } = await openServer((stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
    const { client } = await openTap({ host: "127.0.0.1", port });
    expect((await send(client, call)).headers).toMatchObject({ "grpc-status": "14" });
    expect(client.destroyed).toBe(false);
  });

  it.each([...calls, "PollActivityTaskQueue"])(
    "cancels %s at the server when the process gives it up",
    async (call) => {
      let arrived!: (stream: http2.ServerHttp2Stream) => void;
      const atServer = new Promise<http2.ServerHttp2Stream>((resolve) => (arrived = resolve));
      const { port } = await openServer((stream) => {
        stream.resume();
        arrived(stream);
      });
      const { client } = await openTap({ host: "127.0.0.1", port });
      const stream = client.request({ ":method": "POST", ":path": `${service}/${call}`, te: "trailers" });
      stream.on("error", () => {});
      stream.end(emptyMessage);
      const served = await atServer;
      const closed = once(served, "close");
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await closed;
      expect(served.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
    },
  );

  it("passes large bodies both ways at the pace of a reader that takes its time", async () => {
    const size = 12 * 1024 * 1024;
    const { port } = await openServer((stream) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        stream.respond({ ":status": 200 });
        stream.end(Buffer.concat(chunks));
      });
    });
    const { client, recorder } = await openTap({ host: "127.0.0.1", port });
    const body = Buffer.alloc(size, "b");
    body.writeUInt8(0, 0);
    body.writeUInt32BE(size - 5, 1);
    for (const call of calls) {
      const stream = client.request({ ":method": "POST", ":path": `${service}/${call}`, te: "trailers" });
      stream.end(body);
      const chunks: Buffer[] = [];
      for await (const chunk of stream) {
        chunks.push(chunk as Buffer);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(Buffer.concat(chunks).equals(body), call).toBe(true);
    }
    // These bytes are no message of this call. It passed, and the tap says that it couldn't read it.
    expect(recorder.faults()).toEqual([expect.stringContaining("TerminateWorkflowExecution")]);
  });
});
