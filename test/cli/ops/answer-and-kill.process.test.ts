/**
 * A parked posting, its answer sent twice, and the worker killed while it follows the answer: one posting, a finished
 * workflow. The relay is left out, so what ends the wait is the process's own poll.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { OpsEntry } from "../../../cli/ops/entries.js";
import { opsAnswer, opsList } from "../../../cli/ops/ops.js";
import { openRun, type Run } from "../../../platform/index.js";
import {
  directPeers,
  startInvoiceEnvironment,
  workerEntries,
  workerSpec,
  type InvoiceEnvironment,
} from "../../../scenarios/invoice-approval/environment.js";
import { demoPolicy } from "../../../scenarios/invoice-approval/policy.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  storyDocuments,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import { postingKey } from "../../../workflows/invoice-approval/keys.js";

const office = [automaticInvoices[0]!];
const token = `o${randomBytes(5).toString("hex")}`;
const invoiceKey = invoiceKeyOf(token, office[0]!);
let folder: string;
let run: Run;
let environment: InvoiceEnvironment;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "killproof-ops-test-"));
  run = await openRun({ name: "ops-test", runsFolder: path.join(folder, "runs"), handleSignals: false });
  environment = await startInvoiceEnvironment(run);
});

afterAll(async () => {
  await run?.close();
  await rm(folder, { recursive: true, force: true });
});

/** @param accounting how this installation of it is said to behave */
function startWorker(name: string, accounting: Readonly<Record<string, string>>) {
  const spec = workerSpec(environment, {
    entry: workerEntries.safe,
    name,
    taskQueue: token,
    peers: directPeers(environment),
  });
  return run.spawn({ ...spec, env: { ...spec.env, ...accounting } });
}

async function ops<Result>(
  command: (context: {
    environment: Record<string, string>;
    stdout: { write(text: string): unknown };
    json: boolean;
  }) => Promise<number>,
): Promise<{ code: number; read: Result }> {
  let written = "";
  const stdout = { write: (text: string) => (written += text) };
  const code = await command({ environment: { LEDGER_URL: environment.ledgerUrl }, stdout, json: true });
  return { code, read: JSON.parse(written) as Result };
}

test("a parked posting is listed, answered twice under one id, and survives the kill of who follows the answer", async () => {
  const { world, client } = environment;
  for (const { documentId, mediaType, bytes } of await storyDocuments(process.cwd(), token, office)) {
    await world.control.putDocument(documentId, mediaType, bytes);
  }
  const post = { run: token, system: "accounting", operation: "post" } as const;
  await world.control.tellFault({ kind: "dropAnswer", ...post, times: 1 });
  // Told that accounting can neither repeat nor be asked, it can only park.
  const first = await startWorker("first", { ACCOUNTING_HONOURS_KEYS: "no", ACCOUNTING_CAN_FIND: "no" });
  const handle = await startBatch(client, token, automaticBatch(token, demoPolicy, office));
  const question = await vi.waitFor(
    async () => {
      const { read } = await ops<OpsEntry[]>(opsList);
      const found = read.find(({ subject }) => subject === postingKey(invoiceKey));
      expect(found?.kind).toBe("operation");
      return found!;
    },
    { timeout: 60_000, interval: 200 },
  );
  expect(question).toMatchObject({
    reason: "cannot-be-asked",
    answers: ["adopt", "absent", "redrive"],
    evidence: { provider: "accounting", request: { invoiceKey } },
    ageMs: expect.any(Number),
  });
  await first.stop();

  const answer = { question: question.id, redrive: true, by: "ann", id: "answer-1" };
  const told = await ops((context) => opsAnswer({ ...context, ...answer }));
  expect(told).toMatchObject({ code: 0, read: { result: "answered", subject: postingKey(invoiceKey) } });
  expect(await ops((context) => opsAnswer({ ...context, ...answer }))).toEqual(told);

  // Held in the middle of following it: accounting has the request and hasn't answered.
  await world.control.tellFault({ kind: "slow", ...post, ms: 1_500, times: 1 });
  const seenBefore = await receivedPosts();
  const victim = await startWorker("victim", {});
  await vi.waitFor(async () => expect(await receivedPosts()).toBeGreaterThan(seenBefore), {
    timeout: 60_000,
    interval: 50,
  });
  expect(await victim.kill("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
  const standby = await startWorker("standby", {});
  expect(await handle.result()).toMatchObject({ failures: 0, outcomes: [{ outcome: "posted", invoiceKey }] });
  await standby.stop();

  expect(await world.journal.postingsOf(invoiceKey)).toHaveLength(1);
  expect((await ops<OpsEntry[]>(opsList)).read).toEqual([]);
  // Also now the same answer is told what it was told first.
  expect(await ops((context) => opsAnswer({ ...context, ...answer }))).toEqual(told);
});

async function receivedPosts(): Promise<number> {
  const entries = await environment.world.journal.read({ run: token, system: "accounting" });
  return entries.filter(({ kind, operation }) => kind === "received" && operation === "post").length;
}
