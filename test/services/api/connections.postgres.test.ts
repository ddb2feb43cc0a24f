/** Clients that are slow, endless or no HTTP clients at all, on real sockets. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { apiRig, as } from "./api-rig.js";

const headerBytesMax = 2_048;
const rig = apiRig({ limits: { headerBytesMax, headersMsMax: 200, requestMsMax: 400, checkEveryMs: 20 } });

beforeAll(() => rig.app.listen({ host: "127.0.0.1", port: 0 }));

const lines = (...all: readonly string[]) => all.map((line) => `${line}\r\n`).join("");
const admission = (length: number) =>
  lines(
    "POST /api/invoice-batches HTTP/1.1",
    "Host: x",
    `Authorization: ${as("sue").authorization}`,
    "Content-Type: application/json",
    "Idempotency-Key: slow",
    `Content-Length: ${length}`,
    "",
  );

/** Sends bytes and nothing more, and gives all that comes until the API ends the connection. */
async function answerTo(sent: string): Promise<string> {
  const socket = net.connect((rig.app.server.address() as AddressInfo).port, "127.0.0.1");
  const parts: Buffer[] = [];
  socket.on("data", (part) => parts.push(part));
  // A connection that is ended while bytes arrive can be reset; what was answered counts.
  socket.on("error", () => undefined);
  socket.write(sent);
  await once(socket, "close");
  return Buffer.concat(parts).toString();
}

function problemIn(answer: string): unknown {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head).toMatch(/^content-type: application\/problem\+json/im);
  return JSON.parse(body);
}

test.each([
  ["a body that never comes whole", `${admission(100)}{"invoices":[`],
  ["headers that never end", "GET /api/reviews HTTP/1.1\r\nHost: x\r\n"],
])("%s ends as RequestTooSlow", async (_, sent) => {
  const before = await rig.countRows();
  const answer = await answerTo(sent);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(problemIn(answer)).toMatchObject({
    type: "urn:problem-type:killproof:RequestTooSlow",
    status: 408,
    retryable: true,
  });
  expect(await rig.countRows()).toEqual(before);
});

test("a connection that says nothing is ended", async () => {
  expect(await answerTo("")).toMatch(/^(HTTP\/1\.1 408 |$)/);
});

test("headers above the limit are refused before the key in them is looked at", async () => {
  const answer = await answerTo(lines("GET /api/reviews HTTP/1.1", `X: ${"x".repeat(headerBytesMax)}`, ""));
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(problemIn(answer)).toMatchObject({ type: "urn:problem-type:killproof:HeadersTooLarge" });
});

test.each([
  ["no HTTP at all", "\u0016\u0003\u0001 hello\r\n\r\n"],
  ["two lengths", `${admission(2).trimEnd()}\r\nContent-Length: 3\r\n\r\n{}`],
  ["length and chunks at once", `${admission(2).trimEnd()}\r\nTransfer-Encoding: chunked\r\n\r\n{}`],
])("%s is one problem, and nothing is done", async (_, sent) => {
  const before = await rig.countRows();
  const answer = await answerTo(sent);
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(problemIn(answer)).toMatchObject({ type: "urn:problem-type:killproof:InvalidRequest", status: 400 });
  expect(await rig.countRows()).toEqual(before);
});

test("a body that says it is too large is refused without waiting for it", async () => {
  const answer = await answerTo(admission(2_000_000));
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(problemIn(answer)).toMatchObject({ type: "urn:problem-type:killproof:BodyTooLarge" });
});

test("what was sent stands in no log", () => {
  expect(rig.logLines.filter((line) => line.includes("unreadable-request")).length).toBeGreaterThan(3);
  expect(rig.logLines.filter((line) => line.includes("key-of-"))).toEqual([]);
});
