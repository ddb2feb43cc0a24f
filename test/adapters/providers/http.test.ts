/** The shared client against a real socket that misbehaves. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createHttpClient, type HttpClientOptions } from "../../../adapters/providers/http.js";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function served(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  options: Partial<HttpClientOptions> = {},
) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
  return createHttpClient({ baseUrl, apiKey: "the-secret-key", timeoutMs: 10_000, ...options });
}

const never = new AbortController().signal;
const get = { method: "GET", path: "/thing" } as const;

test("gives what came, whatever the status", async () => {
  let seen:
    { url?: string | undefined; authorization?: string | undefined; key?: unknown; body: string } | undefined;
  const client = await served((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { authorization, "idempotency-key": key } = request.headers;
      seen = { url: request.url, authorization, key, body };
      response.writeHead(503, { "retry-after": "4", "content-type": "text/plain" }).end("busy");
    });
  });
  const headers = { "idempotency-key": "k-1" };
  const exchange = await client.exchange(
    { method: "POST", path: "/thing?a=b", headers, json: { a: 1 } },
    never,
  );
  expect(exchange).toMatchObject({ kind: "response", status: 503, retryAfter: "4", mediaType: "text/plain" });
  expect(exchange.kind === "response" && Buffer.from(exchange.body).toString()).toBe("busy");
  expect(seen).toEqual({
    url: "/base/thing?a=b",
    authorization: "Bearer the-secret-key",
    key: "k-1",
    body: '{"a":1}',
  });
});

test("a redirect is an answer, not followed", async () => {
  let requests = 0;
  const client = await served((_request, response) => {
    requests += 1;
    response.writeHead(307, { location: "/base/other" }).end();
  });
  expect(await client.exchange(get, never)).toMatchObject({ kind: "response", status: 307 });
  expect(requests).toBe(1);
});

test("no answer in time", async () => {
  const client = await served(() => undefined, { timeoutMs: 30 });
  expect(await client.exchange(get, never)).toEqual({
    kind: "noAnswer",
    reason: "timeout",
    detail: "no answer within 30 ms",
  });
});

test("an answer that begins in time and doesn't end", async () => {
  const client = await served((_request, response) => response.writeHead(200).write("x"), { timeoutMs: 100 });
  expect(await client.exchange(get, never)).toMatchObject({ kind: "noAnswer", reason: "timeout" });
});

test("cancelled, before and during", async () => {
  const abort = new AbortController();
  let requests = 0;
  const client = await served(() => {
    requests += 1;
    abort.abort();
  });
  expect(await client.exchange(get, abort.signal)).toMatchObject({ kind: "noAnswer", reason: "cancelled" });
  expect(await client.exchange(get, abort.signal)).toMatchObject({ kind: "noAnswer", reason: "cancelled" });
  expect(requests).toBe(1);
});

test("a broken connection, and nobody there", async () => {
  const client = await served((request) => request.socket.destroy());
  expect(await client.exchange(get, never)).toMatchObject({ kind: "noAnswer", reason: "connection" });
  const half = await served((request, response) => {
    response.writeHead(201, { "content-length": "100" }).write("{", () => request.socket.destroy());
  });
  expect(await half.exchange(get, never)).toMatchObject({ kind: "noAnswer", reason: "connection" });
  const nobody = createHttpClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k", timeoutMs: 1_000 });
  const exchange = await nobody.exchange(get, never);
  expect(exchange).toMatchObject({ kind: "noAnswer", reason: "connection" });
  expect(JSON.stringify(exchange)).not.toContain("fetch failed");
});

test("an answer above the limit is not read", async () => {
  const client = await served((_request, response) => response.end("x".repeat(101)), {
    responseBytesMax: 100,
  });
  expect(await client.exchange(get, never)).toMatchObject({ kind: "noAnswer", reason: "tooLarge" });
  const exact = await served((_request, response) => response.end("x".repeat(100)), {
    responseBytesMax: 100,
  });
  expect(await exact.exchange(get, never)).toMatchObject({ kind: "response", status: 200 });
});

test("connections are kept alive", async () => {
  const ports = new Set<number | undefined>();
  const client = await served((request, response) => {
    ports.add(request.socket.remotePort);
    response.end("{}");
  });
  for (let call = 0; call < 10; call += 1) await client.exchange(get, never);
  // A second one may be opened while the first is just being put back.
  expect(ports.size).toBeLessThanOrEqual(2);
});

test.each([
  [{ baseUrl: "ftp://x" }, 'baseUrl must be an http or https address, got "ftp://x"'],
  [{ baseUrl: "nowhere" }, 'baseUrl must be an http or https address, got "nowhere"'],
  [{ timeoutMs: 0 }, "timeoutMs must be a positive number of milliseconds, got 0"],
  [{ timeoutMs: Number.NaN }, "timeoutMs must be a positive number of milliseconds, got NaN"],
])("refuses %o", (change, message) => {
  expect(() => createHttpClient({ baseUrl: "http://x", apiKey: "k", timeoutMs: 1, ...change })).toThrow(
    message,
  );
});
