/** A relay that dies or freezes around a start, with the server's answer held by a tap between the two. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLedger, type Ledger } from "../../../adapters/ledger/database.js";
import { migrate } from "../../../adapters/ledger/migrate.js";
import { enqueue } from "../../../adapters/ledger/outbox/enqueue.js";
import { openTemporalClient } from "../../../adapters/temporal/client.js";
import { forward, type BoundaryEvent, type Decision } from "../../../crash-lab/taps/event.js";
import { openTemporalTap } from "../../../crash-lab/taps/temporal/temporal-tap.js";
import { newRunToken } from "../../../crash-lab/taps/tokens.js";
import {
  openRun,
  startPostgres,
  startTemporal,
  type ManagedProcess,
  type Run,
  type TemporalServer,
} from "../../../platform/index.js";

let run: Run;
let temporal: TemporalServer;
let ledgerUrl: string;
let ledger: Ledger;
let client: Awaited<ReturnType<typeof openTemporalClient>>;

/** Short, as the second relay waits for the end of the first one's; longer than a send, as it has to be. */
const leaseMs = 5_000;
/** COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION of the server's API. */
const completeWorkflowCommand = 4;
/** The task is there when it is asked for; this only ends a test that would hang. */
const pollMsMax = 60_000;

beforeAll(async () => {
  run = await openRun({ name: "test-relay-death", handleSignals: false });
  const [postgres, server] = await Promise.all([
    startPostgres(run, { name: "ledger" }),
    startTemporal(run, { name: "temporal" }),
  ]);
  temporal = server;
  ledgerUrl = await postgres.createDatabase("ledger");
  await migrate({ url: ledgerUrl });
  ledger = openLedger({ url: ledgerUrl, applicationName: "test", poolSize: 2 });
  client = await openTemporalClient({ ...temporal, identity: "test" });
});
afterAll(async () => {
  await ledger?.destroy();
  await client?.connection.close();
  await run?.close();
});

function startRelay(name: string, temporalAddress: string): Promise<ManagedProcess> {
  return run.spawn({
    name,
    entry: "services/relay/main.js",
    env: {
      LEDGER_URL: ledgerUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: temporal.namespace,
      MAIL_URL: "http://127.0.0.1:9",
      MAIL_API_KEY: "unused",
      RELAY_NAME: name,
      RELAY_LEASE_MS: String(leaseMs),
      RELAY_SEND_TIMEOUT_MS: String(leaseMs - 500),
      RELAY_POLL_MS: "200",
    },
  });
}

/** A relay whose connection to Temporal stops at one moment of a start; what happens then, the test says. */
async function relayHeldAt(name: string, workflowId: string, side: "before" | "after") {
  let arrive: () => void = () => undefined;
  let release: (decision: Decision) => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<Decision>((resolve) => (release = resolve));
  const decide = (event: BoundaryEvent): Decision => {
    const { details } = event;
    if (details.kind !== "temporal" || details.call !== "StartWorkflowExecution") return forward;
    if (details.workflowId !== workflowId || event.side !== side) return forward;
    arrive();
    return { do: "hold", until: released };
  };
  const [host = "", port = ""] = temporal.address.split(":");
  const upstream = { host, port: Number(port) };
  const tap = await openTemporalTap({ process: name, controller: { decide }, upstream });
  const relay = await startRelay(name, `127.0.0.1:${tap.port}`);
  return { relay, arrived, release, close: () => tap.close() };
}

async function writeStart(workflowId: string): Promise<void> {
  await ledger.transaction().execute((transaction) =>
    enqueue(transaction, `start:${workflowId}`, {
      kind: "start",
      workflowId,
      workflowType: "invoiceBatch",
      // One of its own, so that its task is the only one there.
      taskQueue: workflowId,
      args: [],
    }),
  );
}

const outboxRow = (workflowId: string) =>
  ledger
    .selectFrom("outbox")
    .select(["state", "claims", "outcome", "owner", "settled_at"])
    .where("message_key", "=", `start:${workflowId}`)
    .executeTakeFirstOrThrow();

/** Waits for a state that another process brings about; only the look at it is by the clock. */
async function untilSent(workflowId: string) {
  for (;;) {
    const row = await outboxRow(workflowId);
    if (row.state === "sent") return row;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Takes the workflow's first task, as a worker does, and completes the workflow with it. */
async function completeWorkflow(workflowId: string): Promise<void> {
  const service = client.workflowService;
  const { namespace } = temporal;
  // The server refuses a poll without an end.
  const task = await client.withDeadline(Date.now() + pollMsMax, () =>
    service.pollWorkflowTaskQueue({ namespace, taskQueue: { name: workflowId }, identity: "test" }),
  );
  expect(task.workflowExecution?.workflowId).toBe(workflowId);
  await service.respondWorkflowTaskCompleted({
    namespace,
    taskToken: task.taskToken,
    identity: "test",
    commands: [{ commandType: completeWorkflowCommand, completeWorkflowExecutionCommandAttributes: {} }],
  });
}

/** The latest run under this id: another run than the first one would be this one. */
async function latestRun(workflowId: string): Promise<{ readonly runId: string; readonly status: string }> {
  const { runId, status } = await client.workflow.getHandle(workflowId).describe();
  return { runId, status: status.name };
}

test.each([
  ["completed", "COMPLETED", completeWorkflow],
  ["terminated", "TERMINATED", async (id: string) => void (await client.workflow.getHandle(id).terminate())],
])(
  "killed after its start was accepted, and followed only when the workflow had %s: one run",
  async (how, status, end) => {
    const workflowId = `batch-${how}-${newRunToken()}`;
    const { relay, arrived, release, close } = await relayHeldAt(`first-${how}`, workflowId, "after");
    await writeStart(workflowId);
    await arrived;
    expect(await relay.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
    release({ do: "drop" });
    await close();
    expect(await outboxRow(workflowId)).toMatchObject({ state: "pending", claims: 1 });
    const { runId } = await latestRun(workflowId);
    await end(workflowId);

    const second = await startRelay(`second-${how}`, temporal.address);
    expect(await untilSent(workflowId)).toMatchObject({ claims: 2, outcome: { alreadyStarted: true } });
    await second.stop();
    expect(await latestRun(workflowId)).toEqual({ runId, status });
  },
);

test("frozen before its start went out: another delivers it within the lease, and the thawed one does no harm", async () => {
  const workflowId = `batch-frozen-${newRunToken()}`;
  const { relay: frozen, arrived, release, close } = await relayHeldAt("frozen", workflowId, "before");
  await writeStart(workflowId);
  await arrived;
  frozen.signal("SIGSTOP");
  const second = await startRelay("awake", temporal.address);
  const sent = await untilSent(workflowId);
  expect(sent).toMatchObject({ claims: 2, outcome: { runId: expect.any(String) as unknown } });
  await completeWorkflow(workflowId);
  await second.stop();

  // Its old request reaches the server now, and it goes on with what it believes.
  release(forward);
  frozen.signal("SIGCONT");
  const later = `batch-later-${newRunToken()}`;
  await writeStart(later);
  expect(await untilSent(later)).toMatchObject({ claims: 1 });
  expect(await frozen.stop()).toEqual({ code: 0, signal: null });
  await close();
  expect(await outboxRow(workflowId)).toEqual(sent);
  const { runId } = sent.outcome as { runId: string };
  expect(await latestRun(workflowId)).toEqual({ runId, status: "COMPLETED" });
});
