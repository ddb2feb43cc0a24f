/** Each fault, over real HTTP, seen by the client and in the journal. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestWorld, worldSecrets, type TestWorld } from "../../support/world.js";
import type { FaultInput } from "../../../scenarios/world/control.js";
import type { JournalEntry } from "../../../scenarios/world/journal.js";

let world: TestWorld;
beforeAll(async () => {
  world = await startTestWorld();
});
afterAll(() => world.dispose());

/** Long enough for a loaded machine; a test that waits it out has failed. */
const timeoutMs = 15_000;

function posting(run: string, changes: Record<string, unknown> = {}) {
  return {
    invoiceKey: `acme:INV-${run}-1`,
    revision: 1,
    supplierId: "supplier-9",
    invoiceNumber: `2026-${run}`,
    currency: "EUR",
    amountMinor: 12_000,
    payloadDigest: "ab".repeat(32),
    ...changes,
  };
}

function send(body: unknown, key?: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${world.baseUrl("accounting")}/postings`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${worldSecrets.WORLD_ACCOUNTING_API_KEY}`,
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

function lookup(run: string): Promise<Response> {
  const query = new URLSearchParams({ invoiceKey: posting(run).invoiceKey });
  return fetch(`${world.baseUrl("accounting")}/postings?${query}`, {
    headers: { authorization: `Bearer ${worldSecrets.WORLD_ACCOUNTING_API_KEY}` },
  });
}

const tell = (run: string, fault: Record<string, unknown>) =>
  world.control.tellFault({ run, system: "accounting", ...fault } as FaultInput);
const kinds = (entries: readonly JournalEntry[]) =>
  entries.map(({ operation, kind }) => `${operation} ${kind}`);
const committedCount = async (run: string) =>
  (await world.journal.postingsOf(posting(run).invoiceKey)).length;

test("without a fault: done once, the first answer again for the same key, and all of it in the journal", async () => {
  const run = world.newRun();
  const first = await send(posting(run), "k-1" + run);
  const again = await send(posting(run), "k-1" + run);
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await again.text()).toBe(await first.text());

  const entries = await world.journal.read({ run });
  expect(kinds(entries)).toEqual([
    "post received",
    "post committed",
    "post answered",
    "post received",
    "post answered",
  ]);
  expect(new Set(entries.map(({ digest }) => digest)).size).toBe(1);
  expect(entries[1]).toMatchObject({
    key: posting(run).invoiceKey,
    idempotencyKey: "k-1" + run,
    content: posting(run),
    status: null,
  });
  expect(entries[2]).toMatchObject({ requestId: entries[0]!.requestId, status: 201 });
});

test("without a key every request is another one", async () => {
  const run = world.newRun();
  expect((await send(posting(run))).status).toBe(201);
  expect((await send(posting(run))).status).toBe(201);
  expect(await committedCount(run)).toBe(2);
});

test("a key with another request: 409, nothing done", async () => {
  const run = world.newRun();
  await send(posting(run), run);
  const other = await send(posting(run, { amountMinor: 1 }), run);
  expect(other.status).toBe(409);
  expect(await other.json()).toMatchObject({ code: "key-reused" });
  expect(await committedCount(run)).toBe(1);
});

test("lateCommit: nothing is done before its time, and the same key is told that it is in progress", async () => {
  const run = world.newRun();
  await tell(run, { kind: "lateCommit", ms: 600_000, times: 1 });
  const abort = new AbortController();
  const first = send(posting(run), run, abort.signal).catch(() => "gone");
  await world.journal.until(({ kind }) => kind === "received", { run, timeoutMs });
  const second = await send(posting(run), run);
  expect(second.status).toBe(409);
  expect(second.headers.get("retry-after")).toBe("1");
  expect(await second.json()).toMatchObject({ code: "in-progress" });
  const other = await send(posting(run, { amountMinor: 1 }), run);
  expect(await other.json()).toMatchObject({ code: "key-reused" });
  abort.abort();
  expect(await first).toBe("gone");
  expect(await committedCount(run)).toBe(0);
});

test("slow: the work begins after the wait", async () => {
  const run = world.newRun();
  await tell(run, { kind: "slow", ms: 60 });
  const startedAt = performance.now();
  expect((await send(posting(run), run)).status).toBe(201);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(59);
  expect((await world.journal.read({ run }))[0]).toMatchObject({ kind: "received", faults: ["slow"] });
});

test("dropAnswer: committed, then the connection breaks; the key finds the first answer", async () => {
  const run = world.newRun();
  await tell(run, { kind: "dropAnswer", times: 1 });
  await expect(send(posting(run), run)).rejects.toThrow("fetch failed");
  expect(kinds(await world.journal.read({ run }))).toEqual([
    "post received",
    "post committed",
    "post dropped",
  ]);
  expect((await send(posting(run), run)).status).toBe(201);
  expect(await committedCount(run)).toBe(1);
});

test("lateCommit: commits although the client has gone", async () => {
  const run = world.newRun();
  await tell(run, { kind: "lateCommit", ms: 1_000 });
  const abort = new AbortController();
  const gone = send(posting(run), run, abort.signal).catch(() => "gone");
  const received = await world.journal.until(({ kind }) => kind === "received", { run, timeoutMs });
  abort.abort();
  expect(await gone).toBe("gone");
  const committed = await world.journal.until(({ kind }) => kind === "committed", { run, timeoutMs });
  expect(committed.requestId).toBe(received.requestId);
});

test("lateCommit and noKeys: a retry that overtakes the commit doubles it", async () => {
  const run = world.newRun();
  await tell(run, { kind: "lateCommit", ms: 200, times: 1 });
  await tell(run, { kind: "noKeys" });
  const first = send(posting(run), run);
  await world.journal.until(({ kind }) => kind === "received", { run, timeoutMs });
  expect((await send(posting(run), run)).status).toBe(201);
  expect((await first).status).toBe(201);
  expect(await committedCount(run)).toBe(2);
});

test("lateCommit, noKeys and uniqueNumber: of two at once one commits, the other is told that it exists", async () => {
  const run = world.newRun();
  await tell(run, { kind: "lateCommit", ms: 200, times: 1 });
  await tell(run, { kind: "noKeys" });
  await tell(run, { kind: "uniqueNumber" });
  const first = send(posting(run), run);
  await world.journal.until(({ kind }) => kind === "received", { run, timeoutMs });
  const statuses = [(await send(posting(run), run)).status, (await first).status];
  expect(statuses.toSorted()).toEqual([201, 409]);
  expect(await committedCount(run)).toBe(1);
});

test("errorAfterCommit: committed, then an error; the key finds the stored success", async () => {
  const run = world.newRun();
  await tell(run, { kind: "errorAfterCommit", status: 502, times: 1 });
  expect((await send(posting(run), run)).status).toBe(502);
  expect((await send(posting(run), run)).status).toBe(201);
  expect(await committedCount(run)).toBe(1);
});

test("errorAfterCommit, replayed: the error is the key's answer for ever", async () => {
  const run = world.newRun();
  await tell(run, { kind: "errorAfterCommit", replayed: true, times: 1 });
  expect((await send(posting(run), run)).status).toBe(500);
  expect((await send(posting(run), run)).status).toBe(500);
  expect(await committedCount(run)).toBe(1);
  expect((await lookup(run)).status).toBe(200);
});

describe("exists", () => {
  test("with equal content: 409, and the posting entered by hand is what the lookup gives", async () => {
    const run = world.newRun();
    await tell(run, { kind: "exists" });
    const answer = await send(posting(run), run);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: "exists" });
    const { items } = (await (await lookup(run)).json()) as { items: unknown[] };
    expect(items).toEqual([expect.objectContaining(posting(run))]);
    expect(await world.journal.postingsOf(posting(run).invoiceKey)).toMatchObject([{ origin: "manual" }]);
  });

  test("with another amount", async () => {
    const run = world.newRun();
    await tell(run, { kind: "exists", amountMinor: 999 });
    expect((await send(posting(run), run)).status).toBe(409);
    expect((await send(posting(run), `${run}-2`)).status).toBe(409);
    expect(await (await lookup(run)).json()).toMatchObject({ items: [{ amountMinor: 999 }] });
    expect(await committedCount(run)).toBe(1);
  });
});

test("keysExpire: forgotten at once, the same key does it again", async () => {
  const run = world.newRun();
  await tell(run, { kind: "keysExpire", ms: 0 });
  await send(posting(run), run);
  await send(posting(run), run);
  expect(await committedCount(run)).toBe(2);
});

test("keysExpire: not before its time", async () => {
  const run = world.newRun();
  await tell(run, { kind: "keysExpire", ms: 600_000 });
  await send(posting(run), run);
  await send(posting(run), run);
  expect(await committedCount(run)).toBe(1);
});

test("noFind: the lookup isn't supported, in the system's own words", async () => {
  const run = world.newRun();
  await tell(run, { kind: "noFind" });
  const answer = await lookup(run);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({
    type: "https://accounting.example/problems/lookup-not-supported",
  });
});

test("lookupLag: a fresh commit isn't seen by the lookup", async () => {
  const run = world.newRun();
  const lag = await tell(run, { kind: "lookupLag", ms: 600_000 });
  await send(posting(run), run);
  expect(await (await lookup(run)).json()).toEqual({ items: [] });
  await world.control.removeFault(lag.id);
  expect(await (await lookup(run)).json()).toMatchObject({ items: [posting(run)] });
});

test("unavailable: a gateway answers n times, and nothing was done", async () => {
  const run = world.newRun();
  await tell(run, { kind: "unavailable", retryAfterSeconds: 3, times: 1 });
  await tell(run, { kind: "unavailable", status: 401, times: 1 });
  const first = await send(posting(run), run);
  expect([first.status, first.headers.get("retry-after"), first.headers.get("content-type")]).toEqual([
    503,
    "3",
    "text/html; charset=utf-8",
  ]);
  expect((await send(posting(run), run)).status).toBe(401);
  expect(await committedCount(run)).toBe(0);
  expect((await send(posting(run), run)).status).toBe(201);
  expect(await world.control.faults(run)).toMatchObject([
    { fired: 1, remaining: 0 },
    { fired: 1, remaining: 0 },
  ]);
});

test("refuse: replayed for its key also after the repair; another key then succeeds", async () => {
  const run = world.newRun();
  const told = await tell(run, { kind: "refuse", code: "period-closed" });
  const first = await send(posting(run), run);
  expect(first.status).toBe(422);
  expect(await first.json()).toMatchObject({ code: "period-closed" });
  await world.control.removeFault(told.id);
  expect((await send(posting(run), run)).status).toBe(422);
  expect((await send(posting(run), `${run}/try-2`)).status).toBe(201);
  expect(await committedCount(run)).toBe(1);
});

test("two runs' faults don't meet, and a token inside a longer word isn't the token", async () => {
  const [run, other] = [world.newRun(), world.newRun()];
  await tell(run, { kind: "unavailable" });
  expect((await send(posting(other), other)).status).toBe(201);
  expect((await send(posting(`${run}x`), `${run}x`)).status).toBe(201);
  expect((await send(posting(run), run)).status).toBe(503);
  expect((await world.journal.read({ run })).every(({ key }) => key === posting(run).invoiceKey)).toBe(true);
  expect(await world.control.removeFaults(run)).toBe(1);
  expect((await send(posting(run), run)).status).toBe(201);
});
