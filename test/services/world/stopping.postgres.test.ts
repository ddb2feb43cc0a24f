/** A graceful stop: what was taken on is done, also for a client that has gone; and each request is in the log. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startTestWorld, worldSecrets, type TestWorld } from "../../support/world.js";

let world: TestWorld | undefined;
afterEach(async () => {
  await world?.dispose();
  world = undefined;
});

interface LogLine {
  readonly event?: string;
  readonly system?: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number | null;
}

test("a late commit whose client has gone is made before the world ends", async () => {
  const requests: LogLine[] = [];
  let heard = (): void => undefined;
  world = await startTestWorld({
    onLog: (line) => {
      const entry = JSON.parse(line) as LogLine;
      if (entry.event !== "request" || entry.system !== "accounting") return;
      requests.push(entry);
      heard();
    },
  });
  const run = world.newRun();
  await world.control.tellFault({ run, system: "accounting", kind: "lateCommit", ms: 600_000 });
  const abort = new AbortController();
  const sent = fetch(`${world.baseUrl("accounting")}/postings`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${worldSecrets.WORLD_ACCOUNTING_API_KEY}`,
      "content-type": "application/json",
      "idempotency-key": run,
    },
    body: JSON.stringify({
      invoiceKey: run,
      revision: 1,
      supplierId: "s",
      invoiceNumber: "n",
      currency: "EUR",
      amountMinor: 1,
      payloadDigest: "d",
    }),
    signal: abort.signal,
  }).catch(() => "gone");
  await world.journal.until(({ kind }) => kind === "received", { run, timeoutMs: 15_000 });
  const logged = new Promise<void>((resolve) => (heard = resolve));
  abort.abort();
  expect(await sent).toBe("gone");
  await logged;
  expect(requests).toMatchObject([{ method: "POST", route: "/postings", status: null }]);

  const rows = () => world!.owner.query<{ kind: string }>("select kind from journal order by seq");
  expect((await rows()).rows.map(({ kind }) => kind)).toEqual(["received"]);
  await world.world.close();
  expect((await rows()).rows.map(({ kind }) => kind)).toEqual(["received", "committed", "answered"]);
});

test("the log has one line per request, with route and status, and no secret", async () => {
  const lines: string[] = [];
  world = await startTestWorld({ onLog: (line) => lines.push(line) });
  const url = world.baseUrl("accounting");
  const headers = { authorization: `Bearer ${worldSecrets.WORLD_ACCOUNTING_API_KEY}` };
  const statuses = [
    (await fetch(`${url}/postings?invoiceKey=a`, { headers })).status,
    (await fetch(`${url}/postings`, { headers })).status,
    (await fetch(`${url}/postings?invoiceKey=a`)).status,
    (await fetch(`${url}/elsewhere`, { headers })).status,
  ];
  expect(statuses).toEqual([200, 400, 401, 404]);
  await world.world.close();
  const requests = lines
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ event }) => event === "request");
  expect(requests.map(({ system, method, route, status }) => [system, method, route, status])).toEqual([
    ["accounting", "GET", "/postings", 200],
    ["accounting", "GET", "/postings", 400],
    ["accounting", "GET", "/postings", 401],
    ["accounting", "GET", null, 404],
  ]);
  for (const secret of Object.values(worldSecrets)) expect(lines.join()).not.toContain(secret);
});

test("a reader that waits is answered when the world stops", async () => {
  world = await startTestWorld();
  const waiting = fetch(`${world.baseUrl("control")}/journal?waitMs=25000`, {
    headers: { authorization: `Bearer ${worldSecrets.WORLD_JUDGE_TOKEN}` },
  });
  const { control } = world;
  // Answered after the waiting request was read, since it came later.
  await control.faults("r1");
  await world.world.close();
  expect(await (await waiting).json()).toEqual({ entries: [] });
});

test("a folder's files are the first documents", async () => {
  world = await startTestWorld({ settings: { WORLD_DOCUMENTS_FOLDER: "test/fixtures/world-documents" } });
  const answer = await fetch(`${world.baseUrl("documents")}/documents/invoice-1.xml`, {
    headers: { authorization: `Bearer ${worldSecrets.WORLD_DOCUMENTS_API_KEY}` },
  });
  expect(answer.headers.get("content-type")).toBe("application/xml");
  expect(await answer.text()).toContain("<ID>2026-1</ID>");
});

test("a file name that can't be a document's id, or a folder that isn't there, stops the start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "world-documents-"));
  try {
    await writeFile(join(folder, "invoice 1.xml"), "<Invoice/>");
    const start = (WORLD_DOCUMENTS_FOLDER: string) =>
      startTestWorld({ settings: { WORLD_DOCUMENTS_FOLDER } });
    await expect(start(folder)).rejects.toThrow('the file name "invoice 1.xml" must be 1 to 200 letters');
    await expect(start(join(folder, "missing"))).rejects.toThrow("ENOENT");
  } finally {
    await rm(folder, { recursive: true });
  }
});
