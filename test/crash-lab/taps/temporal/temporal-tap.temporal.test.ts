/** A real worker and a real client through the tap, against a development server. */
import { randomBytes } from "node:crypto";
import http2 from "node:http2";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundle,
} from "@temporalio/worker";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import type { BoundaryEvent, TemporalDetails } from "../../../../crash-lab/taps/event.js";
import { openTemporalTap, type TemporalTap } from "../../../../crash-lab/taps/temporal/temporal-tap.js";
import { newRunToken } from "../../../../crash-lab/taps/tokens.js";
import { Recorder } from "../recorder.js";
import { createActivities } from "./activities.js";
import { add, beating, greeting, waiting, wake } from "./workflows.js";

let bundle: WorkflowBundle;
let direct: Client;
const address = inject("temporalAddress");
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  const workflowsPath = fileURLToPath(new URL("./workflows.ts", import.meta.url));
  bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("WARN") });
  direct = new Client({ connection: await Connection.connect({ address }) });
});
afterAll(() => direct.connection.close());
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openTap(standby = false) {
  const recorder = new Recorder();
  const [host, port] = address.split(":") as [string, string];
  const tap = await openTemporalTap({
    process: "worker",
    controller: recorder,
    upstream: { host, port: Number(port) },
    standby,
  });
  closers.push(() => tap.close());
  return { tap, recorder };
}

interface WorkerOptions {
  readonly identity?: string;
  readonly eager?: boolean;
}

async function startWorker(
  tap: TemporalTap,
  taskQueue: string,
  { identity = "worker-1", eager = true }: WorkerOptions = {},
) {
  const connection = await NativeConnection.connect({ address: `127.0.0.1:${tap.port}` });
  const worker = await Worker.create({
    connection,
    taskQueue,
    identity,
    workflowBundle: bundle,
    activities: createActivities(),
    stickyQueueScheduleToStartTimeout: "200ms",
    ...(eager ? {} : { maxEagerActivityReservationsPerWorkflowTask: 0 }),
  });
  const running = worker.run();
  // The test waits for it where it stops the worker; a failure before that must not end the test run.
  running.catch(() => {});
  closers.push(async () => {
    if (worker.getState() === "RUNNING") worker.shutdown();
    await running.catch(() => {});
    await connection.close();
  });
  return { worker, running };
}

const newQueue = () => `taps-${randomBytes(5).toString("hex")}`;

function start(taskQueue: string, token: string) {
  return direct.workflow.start(greeting, {
    taskQueue,
    workflowId: `greeting-${token}`,
    args: ["you"],
    workflowTaskTimeout: "2s",
  });
}

/** A call without a client library, whose connection breaks when the test says so and isn't made again. */
function startByHand(tap: TemporalTap, workflowId: string): http2.ClientHttp2Session {
  const message = proto.temporal.api.workflowservice.v1.StartWorkflowExecutionRequest.encode({
    namespace: "default",
    workflowId,
    workflowType: { name: "waiting" },
    taskQueue: { name: newQueue() },
    requestId: workflowId,
  }).finish();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const session = http2.connect(`http://127.0.0.1:${tap.port}`);
  const call = session.request({
    ":method": "POST",
    ":path": "/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution",
    "content-type": "application/grpc",
    te: "trailers",
  });
  // Both end when the test breaks the connection.
  session.on("error", () => {});
  call.on("error", () => {});
  call.end(Buffer.concat([prefix, message]));
  return session;
}

const isAt = (call: string, side: BoundaryEvent["side"]) => (event: BoundaryEvent) =>
  event.side === side && event.label.startsWith(`${call}:`);
const closesWorkflow = ({ side, label }: BoundaryEvent) =>
  side === "after" && label.endsWith("CompleteWorkflowExecution");
const details = (event: BoundaryEvent) => event.details as TemporalDetails;

describe("a worker through the Temporal tap", () => {
  it("runs a workflow with activities unchanged, and every message of the run is an event with its label", async () => {
    const { tap, recorder } = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue, { eager: false });
    // The workflow's end can be known before the tap has passed on the answer to its last task.
    const closing = recorder.next(closesWorkflow);
    const handle = await start(taskQueue, token);
    expect(await handle.result()).toBe("hello hello you");
    await closing;
    const completed = "RespondWorkflowTaskCompleted:greeting";
    expect(recorder.of("before").map(({ label, runTokens }) => [label, ...runTokens])).toEqual(
      [
        `${completed}:ScheduleActivityTask`,
        "RespondActivityTaskCompleted:greeting:greet",
        `${completed}:StartTimer`,
        `${completed}:ScheduleActivityTask`,
        "RespondActivityTaskCompleted:greeting:greet",
        `${completed}:CompleteWorkflowExecution`,
      ].map((label) => [label, token]),
    );
    const after = recorder.of("after");
    expect(after.filter(isAt("PollActivityTaskQueue", "after"))).toHaveLength(2);
    expect(after.filter(isAt("PollWorkflowTaskQueue", "after"))).toHaveLength(4);
    expect(after.every(({ status, attribution }) => status === "0" && attribution === "run")).toBe(true);
    expect((await closing).noWindow).toBe("closing-task");
    expect(details(after.find(isAt("RespondActivityTaskCompleted", "after"))!)).toMatchObject({
      workflowId: `greeting-${token}`,
      task: { identity: "worker-1", attempt: 1, activityType: "greet", eager: false },
    });
    expect(recorder.faults()).toEqual([]);
    expect(Object.keys(tap.serviceCounts())).toContain("GetSystemInfo");
    expect(tap.openDeliveries()).toEqual([]);
  });

  it("counts as many completions as the history has", async () => {
    const { tap, recorder } = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue);
    const closing = recorder.next(closesWorkflow);
    const handle = await start(taskQueue, token);
    await Promise.all([handle.result(), closing]);
    const { events } = await handle.fetchHistory();
    const inHistory = (
      kind: "workflowTaskCompletedEventAttributes" | "activityTaskCompletedEventAttributes",
    ) => events!.filter((event) => event[kind]).length;
    const seen = (call: string) => recorder.events.filter(isAt(call, "after")).length;
    expect(seen("RespondWorkflowTaskCompleted")).toBe(inHistory("workflowTaskCompletedEventAttributes"));
    expect(seen("RespondActivityTaskCompleted")).toBe(inHistory("activityTaskCompletedEventAttributes"));
  });

  it("records a task that came eagerly, inside the answer to a workflow task", async () => {
    const { tap, recorder } = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue, { identity: "eager-worker" });
    await (await start(taskQueue, token)).result();
    const eager = recorder
      .of("after")
      .flatMap((event) => details(event).delivered)
      .filter(({ eager }) => eager);
    expect(eager.length).toBeGreaterThan(0);
    expect(eager[0]).toMatchObject({
      kind: "activity-task",
      identity: "eager-worker",
      activityType: "greet",
      attempt: 1,
    });
  });

  it.each(["before", "after"] as const)(
    "holds the completion of an activity %s it counts, and lets it go on",
    async (side) => {
      const { tap, recorder } = await openTap();
      const [taskQueue, token] = [newQueue(), newRunToken()];
      await startWorker(tap, taskQueue, { eager: false });
      const held = recorder.hold(isAt("RespondActivityTaskCompleted", side));
      const handle = await start(taskQueue, token);
      const event = await held.arrived;
      const described = await handle.describe();
      expect(described.raw.pendingActivities?.length ?? 0).toBe(side === "before" ? 1 : 0);
      expect(details(event).task?.identity).toBe("worker-1");
      held.release();
      expect(await handle.result()).toBe("hello hello you");
    },
  );

  it("drops an answer: the worker sends the completion again, and it counts once", async () => {
    const { tap, recorder } = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue, { eager: false });
    recorder.once(isAt("RespondActivityTaskCompleted", "after"), { do: "drop" });
    // 5 = not found: this attempt is not waited for any more.
    const refused = recorder.next(
      (event) => isAt("RespondActivityTaskCompleted", "after")(event) && event.status === "5",
    );
    const handle = await start(taskQueue, token);
    expect(await handle.result()).toBe("hello hello you");
    expect(await refused).toMatchObject({
      label: "RespondActivityTaskCompleted:greeting:greet",
      runTokens: [token],
    });
    const { events } = await handle.fetchHistory();
    expect(events!.filter((event) => event.activityTaskCompletedEventAttributes)).toHaveLength(2);
  });

  it("drops a request: the worker sends it again", async () => {
    const { tap, recorder } = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue, { eager: false });
    recorder.once(isAt("RespondWorkflowTaskCompleted", "before"), { do: "drop" });
    expect(await (await start(taskQueue, token)).result()).toBe("hello hello you");
    const exchanges = recorder.events.filter(({ label }) => label.endsWith(":ScheduleActivityTask"));
    expect(exchanges.map(({ side }) => side).slice(0, 3)).toEqual(["before", "before", "after"]);
  });

  it("keeps a standby's polls until it is activated", async () => {
    const { tap, recorder } = await openTap(true);
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue, { eager: false });
    const handle = await start(taskQueue, token);
    // A second worker past the tap takes everything that there is, so nothing was left for the standby.
    const open = await openTap();
    const other = await startWorker(open.tap, taskQueue, { identity: "worker-2" });
    expect(await handle.result()).toBe("hello hello you");
    expect(recorder.events).toEqual([]);
    other.worker.shutdown();
    await other.running;
    tap.activate();
    const second = await start(taskQueue, newRunToken());
    expect(await second.result()).toBe("hello hello you");
    expect(recorder.events.length).toBeGreaterThan(0);
  });

  it("breaks every poll at the server when the upstream is destroyed, so that they swallow no task", async () => {
    const { tap } = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue);
    await (await start(taskQueue, newRunToken())).result();
    const generation = tap.connections().opened;
    const again = tap.whenConnected(generation + 1);
    tap.destroyUpstream();
    // The worker notices that its connection broke and opens another.
    await again;
    expect(await (await start(taskQueue, token)).result()).toBe("hello hello you");
  });

  it("passes large bodies and labels heartbeats as no window", async () => {
    const { tap, recorder } = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(tap, taskQueue);
    const result = await direct.workflow.execute(beating, {
      taskQueue,
      workflowId: `beating-${token}`,
      args: [3],
    });
    expect(result).toBe(3);
    const large = "y".repeat(1_500_000);
    const echoed = await direct.workflow.execute(greeting, {
      taskQueue,
      workflowId: `greeting-${newRunToken()}`,
      args: [large],
    });
    expect(echoed).toBe(`hello hello ${large}`);
    const beats = recorder.events.filter(isAt("RecordActivityTaskHeartbeat", "before"));
    expect(beats.length).toBeGreaterThan(0);
    expect(beats.every(({ noWindow }) => noWindow === "heartbeat")).toBe(true);
    expect(recorder.faults()).toEqual([]);
  });
});

describe("a client through the Temporal tap", () => {
  it("starts, signals, updates and cancels; each is an event of its run", async () => {
    const { tap, recorder } = await openTap();
    const workers = await openTap();
    const [taskQueue, token] = [newQueue(), newRunToken()];
    await startWorker(workers.tap, taskQueue);
    const connection = await Connection.connect({ address: `127.0.0.1:${tap.port}` });
    closers.push(() => connection.close());
    const client = new Client({ connection });
    const workflowId = `waiting-${token}`;
    const handle = await client.workflow.start(waiting, { taskQueue, workflowId });
    expect(await handle.executeUpdate(add, { args: [7] })).toBe(7);
    await handle.signal(wake, "now");
    expect(await handle.result()).toBe(7);
    await client.workflow.signalWithStart(waiting, {
      taskQueue,
      workflowId: `${workflowId}-2`,
      signal: wake,
      signalArgs: ["x"],
    });
    await client.workflow.getHandle(`${workflowId}-2`).result();
    expect(recorder.of("after").map(({ label, runTokens, status }) => [label, ...runTokens, status])).toEqual(
      [
        "StartWorkflowExecution:waiting",
        "UpdateWorkflowExecution:add",
        "SignalWorkflowExecution:wake",
        "SignalWithStartWorkflowExecution:waiting:wake",
      ].map((label) => [label, token, "0"]),
    );
    await expect(
      client.workflow.start(waiting, { taskQueue, workflowId, workflowIdReusePolicy: "REJECT_DUPLICATE" }),
    ).rejects.toThrow(/already started/i);
    expect(recorder.of("after").at(-1)).toMatchObject({ status: "6" });
  });

  it("is gone when its held request goes on: the server takes the late packet", async () => {
    const { tap, recorder } = await openTap();
    const held = recorder.hold(isAt("StartWorkflowExecution", "before"), true);
    const workflowId = `waiting-${newRunToken()}`;
    const client = startByHand(tap, workflowId);
    await held.arrived;
    client.destroy();
    await tap.whenDisconnected();
    tap.destroyUpstream();
    const handle = direct.workflow.getHandle(workflowId);
    await expect(handle.describe()).rejects.toThrow(/not found/);
    const after = recorder.next(isAt("StartWorkflowExecution", "after"));
    held.release();
    expect(await after).toMatchObject({ status: "0" });
    await handle.terminate();
  });

  it("is gone when its held request is released without being meant to outlive it: nothing comes of it", async () => {
    const { tap, recorder } = await openTap();
    const held = recorder.hold(isAt("StartWorkflowExecution", "before"));
    const workflowId = `waiting-${newRunToken()}`;
    const client = startByHand(tap, workflowId);
    await held.arrived;
    client.destroy();
    await tap.whenDisconnected();
    held.release();
    await expect(direct.workflow.getHandle(workflowId).describe()).rejects.toThrow(/not found/);
    expect(recorder.of("after")).toEqual([]);
  });

  it("is told unavailable when its answer is dropped, and tries again", async () => {
    const { tap, recorder } = await openTap();
    const connection = await Connection.connect({ address: `127.0.0.1:${tap.port}` });
    closers.push(() => connection.close());
    const client = new Client({ connection });
    recorder.once(isAt("StartWorkflowExecution", "after"), { do: "drop" });
    const workflowId = `waiting-${newRunToken()}`;
    const handle = await client.workflow.start(waiting, { taskQueue: newQueue(), workflowId });
    expect(handle.workflowId).toBe(workflowId);
    expect(recorder.of("after").map(({ status }) => status)).toEqual(["0", "0"]);
    await handle.terminate();
  });
});
