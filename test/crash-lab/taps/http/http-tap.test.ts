/** A real server, real clients, and the tap between them. */
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { createGzip, gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { openHttpTap, type HttpTapOptions } from "../../../../crash-lab/taps/http/http-tap.js";
import type { Tap } from "../../../../crash-lab/taps/tap.js";
import { newRunToken } from "../../../../crash-lab/taps/tokens.js";
import { Recorder } from "../recorder.js";

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Answer = (request: Received, response: http.ServerResponse) => void;

async function openSystem(answer: Answer = (_, response) => response.writeHead(201).end('{"ok":true}')) {
  const received: Received[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers, rawHeaders } = request;
      received.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks) });
      answer(received.at(-1)!, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => (server.closeAllConnections(), server.close()));
  return { received, server, url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}` };
}

async function openTap(upstream: string, options: Partial<HttpTapOptions> = {}) {
  const recorder = new Recorder();
  const routes = ["POST /postings", "GET /postings/{key}", "POST /claims"];
  const tap: Tap = await openHttpTap({
    process: "worker",
    name: "accounting",
    upstream,
    routes,
    controller: recorder,
    ...options,
  });
  closers.push(() => tap.close());
  return { recorder, tap, url: `http://127.0.0.1:${tap.port}` };
}

const post = (url: string, key: string, body = '{"amount":100}') =>
  fetch(`${url}/postings`, {
    method: "POST",
    headers: { "idempotency-key": key, "content-type": "application/json" },
    body,
  });

describe("the HTTP tap", () => {
  it("passes a request on and reports it before and after, under its route", async () => {
    const system = await openSystem();
    const { recorder, url } = await openTap(system.url);
    const token = newRunToken();
    const answer = await post(url, `post:${token}`);
    expect([answer.status, await answer.text()]).toEqual([201, '{"ok":true}']);
    expect(system.received).toEqual([
      expect.objectContaining({ method: "POST", url: "/postings", body: Buffer.from('{"amount":100}') }),
    ]);
    expect(system.received[0]!.headers).toMatchObject({
      "idempotency-key": `post:${token}`,
      host: new URL(url).host,
    });
    const facts = {
      label: "POST /postings",
      runTokens: [token],
      attribution: "run",
      key: `post:${token}`,
      access: "write",
    };
    expect(recorder.events).toEqual([
      expect.objectContaining({ ...facts, side: "before", status: null, noWindow: null }),
      expect.objectContaining({ ...facts, side: "after", status: "201" }),
    ]);
  });

  it("finds the run in path and body, and takes reads without a run for service traffic", async () => {
    const { url: upstream } = await openSystem();
    const { recorder, url } = await openTap(upstream);
    const [inPath, inBody] = [newRunToken(), newRunToken()];
    await fetch(`${url}/postings/post:${inPath}`);
    await fetch(`${url}/postings`, {
      method: "POST",
      body: JSON.stringify({ invoice: `invoice-${inBody}` }),
    });
    await fetch(`${url}/health`);
    await fetch(`${url}/postings`, { method: "POST", body: "nobody's" });
    expect(
      recorder
        .of("after")
        .map(({ label, runTokens, attribution, noWindow }) => [label, runTokens, attribution, noWindow]),
    ).toEqual([
      ["GET /postings/{key}", [inPath], "run", "read"],
      ["POST /postings", [inBody], "run", null],
      ["GET /health", [], "service", "read"],
      ["POST /postings", [], "unattributed", null],
    ]);
  });

  it("gives a claim to the run that its answer names, after only", async () => {
    const token = newRunToken();
    const { url: upstream } = await openSystem((_, response) =>
      response.end(JSON.stringify({ job: `job-${token}` })),
    );
    const { recorder, url } = await openTap(upstream);
    expect(await (await fetch(`${url}/claims`, { method: "POST" })).json()).toEqual({ job: `job-${token}` });
    expect(recorder.events).toEqual([expect.objectContaining({ side: "after", runTokens: [token] })]);
  });

  it("holds before: the other side has heard nothing; and after: it has answered", async () => {
    const system = await openSystem();
    const { recorder, url } = await openTap(system.url);
    const before = recorder.hold(({ side }) => side === "before");
    const answering = post(url, newRunToken());
    await before.arrived;
    expect(system.received).toEqual([]);
    const after = recorder.hold(({ side }) => side === "after");
    before.release();
    await after.arrived;
    expect(system.received).toHaveLength(1);
    after.release();
    expect((await answering).status).toBe(201);
  });

  it.each([
    ["before", { do: "drop" }, 0],
    ["before", { do: "reset" }, 0],
    ["before", { do: "drop-answer" }, 1],
    ["after", { do: "drop" }, 1],
    ["after", { do: "reset" }, 1],
  ] as const)(
    "%s, %o: the caller's connection breaks, the other side heard %i",
    async (side, decision, heard) => {
      const system = await openSystem();
      const { recorder, url } = await openTap(system.url);
      recorder.once((event) => event.side === side, decision);
      await expect(post(url, newRunToken())).rejects.toThrow("fetch failed");
      expect(system.received).toHaveLength(heard);
      expect(recorder.of("after")).toHaveLength(heard);
    },
  );

  it("answers 500 after the effect", async () => {
    const system = await openSystem();
    const { recorder, url } = await openTap(system.url);
    recorder.once(({ side }) => side === "after", { do: "answer-500" });
    expect((await post(url, newRunToken())).status).toBe(500);
    expect(system.received).toHaveLength(1);
  });

  it("sends a request twice and passes the first answer on", async () => {
    let answered = 0;
    const system = await openSystem((_, response) =>
      response.writeHead(answered++ === 0 ? 201 : 409).end(`${answered}`),
    );
    const { recorder, url } = await openTap(system.url);
    recorder.once(({ side }) => side === "before", { do: "duplicate" });
    const answer = await post(url, newRunToken());
    expect([answer.status, await answer.text()]).toEqual([201, "1"]);
    expect(system.received.map(({ body }) => body.toString())).toEqual(Array(2).fill('{"amount":100}'));
    expect(recorder.of("after")[0]!.details).toMatchObject({ duplicateStatus: 409 });
  });

  it("drops what is held when its process goes away, and sends a late packet all the same", async () => {
    const system = await openSystem();
    const { tap, recorder } = await openTap(system.url);
    for (const outlives of [false, true]) {
      const held = recorder.hold(({ side }) => side === "before", outlives);
      const client = net.connect(tap.port, "127.0.0.1");
      client.write(`POST /postings/${newRunToken()} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
      await held.arrived;
      client.destroy();
      await tap.whenDisconnected();
      tap.destroyUpstream();
      expect(system.received).toEqual([]);
      const after = recorder.next(({ side }) => side === "after");
      held.release();
      if (outlives) await after;
    }
    expect(system.received).toHaveLength(1);
  });

  it("breaks its connection to the other side when its process dies", async () => {
    const arrived = new Promise<http.ServerResponse>((resolve) => {
      void openSystem((_, response) => resolve(response)).then(async (system) => {
        const { url } = await openTap(system.url);
        const client = net.connect(Number(new URL(url).port), "127.0.0.1");
        client.write(
          `POST /postings HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nIdempotency-Key: ${newRunToken()}\r\n\r\n`,
        );
        client.on("error", () => {});
        void arrived.then(() => client.destroy());
      });
    });
    const response = await arrived;
    await once(response, "close");
    expect(response.writableFinished).toBe(false);
  });

  it("keeps connections of the process alive, and streams what is large in both directions", async () => {
    const size = 8 * 1024 * 1024;
    const { url: upstream, received } = await openSystem((request, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream", "x-twice": ["a", "b"] });
      response.end(request.body);
    });
    const { tap, recorder, url } = await openTap(upstream);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const token = newRunToken();
    const body = Buffer.alloc(size, "z");
    const send = () =>
      new Promise<Buffer>((resolve, reject) => {
        const request = http.request(
          `${url}/postings`,
          { method: "POST", agent, headers: { "idempotency-key": token } },
          (answer) => {
            const chunks: Buffer[] = [];
            answer
              .on("data", (chunk: Buffer) => chunks.push(chunk))
              .on("end", () => resolve(Buffer.concat(chunks)));
            expect(answer.headers["x-twice"]).toBe("a, b");
          },
        );
        request.on("error", reject);
        request.end(body);
      });
    for (let time = 0; time < 2; time += 1) expect((await send()).equals(body)).toBe(true);
    expect(received.map(({ body }) => body.length)).toEqual([size, size]);
    expect(tap.connections().opened).toBe(1);
    expect(recorder.faults()).toEqual([]);
    agent.destroy();
  });

  it("passes compressed and chunked answers, trailers, and answers without a body", async () => {
    const { url: upstream } = await openSystem((request, response) => {
      if (request.method !== "POST") return response.writeHead(204, { "x-empty": "yes" }).end();
      response.writeHead(200, { "content-encoding": "gzip", trailer: "x-sum" });
      response.addTrailers({ "x-sum": "42" });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.end("some text");
    });
    const { url } = await openTap(upstream);
    const got = await new Promise<{ body: string; trailers: unknown }>((resolve) => {
      const request = http.request(`${url}/postings`, { method: "POST" }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () =>
          resolve({ body: gunzipSync(Buffer.concat(chunks)).toString(), trailers: answer.trailers }),
        );
      });
      request.write("in ");
      request.end("pieces");
    });
    expect(got).toEqual({ body: "some text", trailers: { "x-sum": "42" } });
    const empty = await fetch(`${url}/postings/1`, { method: "DELETE" });
    expect([empty.status, empty.headers.get("x-empty")]).toEqual([204, "yes"]);
  });

  it("breaks the caller's connection when there is nobody behind it, and when an answer is cut", async () => {
    const { url: upstream, server } = await openSystem((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("only this", () => response.destroy());
    });
    const { url, recorder } = await openTap(upstream);
    await expect(post(url, newRunToken()).then((answer) => answer.text())).rejects.toThrow();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    await expect(post(url, newRunToken())).rejects.toThrow("fetch failed");
    expect(recorder.notes.filter(({ note }) => note === "upstream-lost")).not.toEqual([]);
  });

  it.each(["nowhere", "postgres://127.0.0.1"])("refuses the upstream %j", async (upstream) => {
    await expect(openTap(upstream)).rejects.toThrow(`upstream "${upstream}" is no URL`);
  });
});

describe("a recorded stream of requests", () => {
  const token = "kp0123456789ab";
  const stream = Buffer.from(
    `POST /postings HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\nIdempotency-Key: post:${token}\r\n\r\n{"amount":100}` +
      `GET /postings/${token} HTTP/1.1\r\nHost: a\r\n\r\n` +
      `POST /postings HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n${token.slice(0, 5)}\r\n9\r\n${token.slice(5)}\r\n0\r\n\r\n`,
  );

  it("gives the same events when it is cut at any byte, and when all of it is one chunk", async () => {
    const system = await openSystem();
    const { recorder, tap } = await openTap(system.url);
    const eventsOf = async (cut: number) => {
      recorder.events.length = 0;
      const client = net.connect(tap.port, "127.0.0.1");
      client.setNoDelay(true);
      // Written when the first part is on its way; node's parser gets them apart or joined, both must do.
      client.write(stream.subarray(0, cut), () => client.write(stream.subarray(cut)));
      client.resume();
      await once(client, "close");
      return recorder.events.map(({ label, side, runTokens, key, digest, status }) => ({
        label,
        side,
        runTokens,
        key,
        digest,
        status,
      }));
    };
    const whole = await eventsOf(stream.length);
    expect(whole.map(({ label, side, runTokens }) => [label, side, ...runTokens])).toEqual(
      ["POST /postings", "GET /postings/{key}", "POST /postings"].flatMap((label) => [
        [label, "before", token],
        [label, "after", token],
      ]),
    );
    for (let cut = 1; cut < stream.length; cut += 1)
      expect(await eventsOf(cut), `cut at ${cut}`).toEqual(whole);
  });
});
