/**
 * The worker as a process: killed in the middle of a posting, told to stop in the middle of one, and called wrongly.
 * Each cause is confirmed in the outside world's journal before the act, and the judge reads nothing but that journal.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { randomBytes } from "node:crypto";
import type { Client } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../../adapters/ledger/migrate.js";
import { openTemporalClient } from "../../../adapters/temporal/client.js";
import {
  openRun,
  startPostgres,
  startTemporal,
  type ManagedProcess,
  type Run,
  type TemporalServer,
} from "../../../platform/index.js";
import { demoPolicy } from "../../../scenarios/invoice-approval/policy.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  storyDocuments,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import { startWorldProcess, type RunningWorld } from "../../../scenarios/world/process.js";
import { bundleWorkflows } from "../../../services/worker/bundle.js";

const office = [automaticInvoices[0]!];
/** Long enough to act in between, short enough to wait for. */
const commitDelayMs = 1_500;

let folder: string;
let run: Run;
let temporal: TemporalServer;
let world: RunningWorld;
let client: Client;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "killproof-worker-test-"));
  run = await openRun({ name: "worker-test", runsFolder: path.join(folder, "runs"), handleSignals: false });
  const postgres = await startPostgres(run, { name: "all" });
  const ledgerUrl = await postgres.createDatabase("ledger");
  await migrate({ url: ledgerUrl });
  world = await startWorldProcess(run, { databaseUrl: await postgres.createDatabase("world") });
  temporal = await startTemporal(run, {
    name: "server",
    dynamicConfig: { "history.timerProcessorMaxTimeShift": "1ms" },
  });
  client = await openTemporalClient({
    address: temporal.address,
    namespace: temporal.namespace,
    identity: `test@${process.pid}`,
  });
  const bundle = path.join(folder, "workflows.js");
  await bundleWorkflows(bundle);
  environment = {
    TEMPORAL_ADDRESS: temporal.address,
    LEDGER_URL: ledgerUrl,
    ACCOUNTING_URL: world.accounting.baseUrl,
    ACCOUNTING_API_KEY: world.accounting.apiKey,
    DOCUMENTS_URL: world.documents.baseUrl,
    DOCUMENTS_API_KEY: world.documents.apiKey,
    SUPPLIERS_FILE: path.resolve("scenarios/invoice-approval/suppliers.json"),
    ACCOUNTING_SETTLE_MS: String(demoPolicy.accounting.settleMs),
    ACCOUNTING_PARK_AFTER_MS: String(demoPolicy.accounting.parkAfterMs),
    WORKER_PROFILE: "quick",
    WORKFLOW_BUNDLE: bundle,
  };
});

afterAll(async () => {
  await client?.connection.close();
  await run?.close();
  await rm(folder, { recursive: true, force: true });
});

const productionWorker = "services/worker/main.js";
const unprotectedWorker = "scenarios/invoice-approval/naive/worker.js";

function startWorker(entry: string, taskQueue: string, name: string): Promise<ManagedProcess> {
  return run.spawn({
    name: `${name}-${taskQueue}`,
    entry,
    env: { ...environment, TEMPORAL_TASK_QUEUE: taskQueue, WORKER_NAME: name },
  });
}

/** Starts one invoice and waits until accounting has received its posting, which it commits only later. */
async function untilPosting(token: string, taskQueue: string) {
  for (const { documentId, mediaType, bytes } of await storyDocuments(process.cwd(), token, office)) {
    await world.control.putDocument(documentId, mediaType, bytes);
  }
  await world.control.tellFault({
    kind: "lateCommit",
    run: token,
    system: "accounting",
    operation: "post",
    ms: commitDelayMs,
    times: 1,
  });
  const handle = await startBatch(client, taskQueue, automaticBatch(token, demoPolicy, office));
  await world.journal.until(({ kind, operation }) => kind === "received" && operation === "post", {
    run: token,
    system: "accounting",
    timeoutMs: 60_000,
  });
  return handle;
}

const newToken = () => `w${randomBytes(5).toString("hex")}`;

test.each([
  ["with journal and stable key", productionWorker, 1],
  ["with a new key for each attempt", unprotectedWorker, 2],
])("killed while accounting works on the posting, %s: %#", async (_how, entry, expected) => {
  const token = newToken();
  const victim = await startWorker(entry, token, "victim");
  const handle = await untilPosting(token, token);
  expect(await victim.kill("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
  const standby = await startWorker(entry, token, "standby");
  expect((await handle.result()).outcomes[0]!.outcome).toBe("posted");
  // The dead worker's request is committed late; only then has everything come in that can come.
  await world.journal.until(({ kind, faults }) => kind === "committed" && faults.includes("lateCommit"), {
    run: token,
    system: "accounting",
    timeoutMs: 30_000,
  });
  expect(await world.journal.postingsOf(invoiceKeyOf(token, office[0]!))).toHaveLength(expected);
  await standby.stop();
});

test("told to stop, it finishes the posting that it is at and takes nothing new", async () => {
  const token = newToken();
  const worker = await startWorker(productionWorker, token, "worker");
  await untilPosting(token, token);
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
  const postings = await world.journal.postingsOf(invoiceKeyOf(token, office[0]!));
  expect(postings).toHaveLength(1);
  const next = await startWorker(productionWorker, token, "next");
  const requests = await world.journal.read({ run: token, system: "accounting" });
  expect(requests.filter(({ kind }) => kind === "received")).toHaveLength(1);
  await next.stop();
});

test("says who it is and what it serves when it is ready", async () => {
  const token = newToken();
  const worker = await startWorker(productionWorker, token, "worker");
  expect(worker.ready).toMatchObject({
    event: "ready",
    taskQueue: token,
    identity: `worker@${worker.pid}`,
    pid: worker.pid,
  });
  await worker.stop();
});

test("called wrongly, it names the variable and starts nothing", async () => {
  const started = run.spawn({
    name: "called-wrongly",
    entry: productionWorker,
    env: { ...environment, WORKER_PROFILE: "fast" },
  });
  await expect(started).rejects.toThrow('WORKER_PROFILE must be production or quick; it is "fast"');
});
