import { randomUUID } from "node:crypto";

import type { Client } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import type { Claimed, Sender, WorkflowMessageKind } from "../../../adapters/ledger/outbox/delivery.js";
import type { OutboxMessage } from "../../../adapters/ledger/outbox/message.js";
import { openTemporalClient } from "../../../adapters/temporal/client.js";
import { createWorkflowSender } from "../../../adapters/temporal/workflow-sender.js";

/** Nobody works on this queue: what is started here stays open until it is terminated. */
const taskQueue = "nobody-works-here";

let client: Client;
let send: Sender<WorkflowMessageKind>;

beforeAll(async () => {
  const address = inject("temporalAddress");
  client = await openTemporalClient({ address, namespace: "default", identity: "sender-test" });
  send = createWorkflowSender({ client, timeoutMs: 10_000 });
});
afterAll(() => client.connection.close());

type WorkflowMessage = Extract<OutboxMessage, { kind: WorkflowMessageKind }>;

const claimed = (message: WorkflowMessage): Claimed<WorkflowMessageKind> => ({
  id: 1,
  messageKey: `${message.kind}:${message.workflowId}`,
  orderingKey: `workflow:${message.workflowId}`,
  message,
  owner: "one",
  claim: 1,
  ageMs: 0,
});
const start = (workflowId: string): WorkflowMessage => ({
  kind: "start",
  workflowId,
  workflowType: "someType",
  taskQueue,
  args: [{ tenant: "north" }],
});
const signal = (workflowId: string): WorkflowMessage => ({
  kind: "signal",
  workflowId,
  signal: "ticketClosed",
  args: [{ ticketId: "t1" }],
});

test("a start sent again is sent, and a finished process isn't run again", async () => {
  const workflowId = `start-${randomUUID()}`;
  const first = await send(claimed(start(workflowId)));
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  expect(first).toEqual({ delivery: "sent", outcome: { runId } });

  const again = { delivery: "sent", outcome: { alreadyStarted: true } };
  expect(await send(claimed(start(workflowId))), "while it runs").toEqual(again);
  await client.workflow.getHandle(workflowId).terminate("end of this part of the test");
  expect(await send(claimed(start(workflowId))), "after its end").toEqual(again);
  expect((await client.workflow.getHandle(workflowId).describe()).status.name).toBe("TERMINATED");
});

test("a start has the time for a workflow task that its message asks for", async () => {
  const workflowId = `timeout-${randomUUID()}`;
  await send(claimed({ ...start(workflowId), workflowTaskTimeoutMs: 2_500 } as WorkflowMessage));
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const { workflowTaskTimeout } = events![0]!.workflowExecutionStartedEventAttributes!;
  expect(Number(workflowTaskTimeout?.seconds ?? 0) * 1_000 + (workflowTaskTimeout?.nanos ?? 0) / 1e6).toBe(
    2_500,
  );
});

test("a signal arrives with its arguments; to a closed workflow it fails for good and needs nobody", async () => {
  const workflowId = `signal-${randomUUID()}`;
  await send(claimed(start(workflowId)));
  expect(await send(claimed(signal(workflowId)))).toEqual({ delivery: "sent", outcome: {} });
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const signals = history.events?.flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []);
  expect(signals?.map((each) => each.signalName)).toEqual(["ticketClosed"]);
  expect(Buffer.from(signals?.[0]?.input?.payloads?.[0]?.data ?? []).toString()).toBe('{"ticketId":"t1"}');

  await client.workflow.getHandle(workflowId).terminate("end of this part of the test");
  const closed = { delivery: "failed", needsPerson: false, outcome: { workflowId } };
  expect(await send(claimed(signal(workflowId)))).toMatchObject(closed);
  expect(await send(claimed(signal(`never-${workflowId}`)))).toMatchObject({ delivery: "failed" });
});

test("signal-with-start starts once, signals each time, and starts anew after the end", async () => {
  const workflowId = `entity-${randomUUID()}`;
  const message: WorkflowMessage = {
    kind: "signalWithStart",
    workflowId,
    workflowType: "someType",
    taskQueue,
    args: [],
    signal: "observed",
    signalArgs: [{ revision: 3 }],
  };
  const first = await send(claimed(message));
  expect(await send(claimed(message))).toEqual(first);
  await client.workflow.getHandle(workflowId).terminate("end of this part of the test");
  const anew = await send(claimed(message));
  expect(anew.delivery).toBe("sent");
  expect(anew).not.toEqual(first);
  await client.workflow.getHandle(workflowId).terminate("end of the test");
});

test("what the server refuses as invalid goes to a person, and no answer in time is sent again", async () => {
  const tooLong = "x".repeat(2_000);
  expect(await send(claimed(start(tooLong)))).toMatchObject({ delivery: "failed", needsPerson: true });
  const impatient = createWorkflowSender({ client, timeoutMs: 0 });
  expect(await impatient(claimed(start(`late-${randomUUID()}`)))).toMatchObject({ delivery: "again" });
});
