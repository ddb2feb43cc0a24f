import { expect, test } from "vitest";
import {
  identityAt,
  lostActivityTasks,
  openTasks,
  successorOf,
} from "../../../crash-lab/judge/lost-tasks.js";
import type { BoundaryEvent, DeliveredTask } from "../../../crash-lab/taps/event.js";
import { eventOf } from "../run/fake-events.js";

const activity = (attempt = 1, activityId = "3"): DeliveredTask => ({
  kind: "activity-task",
  taskToken: `token-${activityId}-${attempt}`,
  workflowId: "invoice:1",
  runId: "r",
  workflowType: "processInvoice",
  activityType: "postInvoice",
  activityId,
  attempt,
  identity: "worker@41",
  eager: false,
});

const call = (
  name: string,
  side: BoundaryEvent["side"],
  { task = null, delivered = [] }: { task?: DeliveredTask | null; delivered?: DeliveredTask[] },
): BoundaryEvent =>
  eventOf({
    label: name,
    side,
    details: {
      kind: "temporal",
      connection: { generation: 1, clientPort: 1 },
      call: name,
      workflowId: "invoice:1",
      workflowType: "processInvoice",
      commands: [],
      task,
      delivered,
    },
  });

const delivery = (task: DeliveredTask): BoundaryEvent =>
  call("PollActivityTaskQueue", "after", { delivered: [task] });
const none: ReadonlySet<BoundaryEvent> = new Set();
const posting = eventOf({ label: "POST /postings", side: "after" });

test("an activity whose effect was held is lost, and its delivery names the worker", () => {
  const events = [delivery(activity()), posting];
  expect(lostActivityTasks(events, none)).toEqual([
    {
      workflowId: "invoice:1",
      runId: "r",
      activityId: "3",
      activityType: "postInvoice",
      attempt: 1,
      identity: "worker@41",
    },
  ]);
  expect(identityAt(posting, events, none)).toBe("worker@41");
});

test("an answer that was held before it left is lost, one that was passed on is not", () => {
  const before = call("RespondActivityTaskCompleted", "before", { task: activity() });
  const after = call("RespondActivityTaskCompleted", "after", { task: activity() });
  expect(lostActivityTasks([delivery(activity()), before], new Set([before]))).toHaveLength(1);
  expect(lostActivityTasks([delivery(activity()), before, after], none)).toEqual([]);
  // Held elsewhere, while this answer is under way: the server may have taken it.
  expect(lostActivityTasks([delivery(activity()), before], none)).toEqual([]);
});

test("of an activity only the newest delivery counts", () => {
  const answered = call("RespondActivityTaskCompleted", "after", { task: activity(2) });
  expect(lostActivityTasks([delivery(activity(1)), delivery(activity(2)), answered, posting], none)).toEqual(
    [],
  );
  const late = call("RespondActivityTaskCompleted", "after", { task: activity(1) });
  expect(
    lostActivityTasks([delivery(activity(1)), delivery(activity(2)), late], none).map(
      ({ attempt }) => attempt,
    ),
  ).toEqual([2]);
});

test("workflow tasks are held too, and a heartbeat answers nothing", () => {
  const task: DeliveredTask = { ...activity(), kind: "workflow-task", activityId: null, activityType: null };
  const beat = call("RecordActivityTaskHeartbeat", "after", { task: activity() });
  const events = [delivery(task), delivery(activity()), beat];
  expect(openTasks(events, none).map(({ kind }) => kind)).toEqual(["workflow-task", "activity-task"]);
  expect(lostActivityTasks(events, none)).toHaveLength(1);
});

test("without any delivery nobody can be named", () => {
  expect(identityAt(posting, [posting], none)).toBeNull();
});

test("history keeps one start of each activity, by whoever did it in the end", () => {
  const [task] = lostActivityTasks([delivery(activity()), posting], none);
  const started = (activityId: string, attempt: number, identity: string, runId = "r") => ({
    workflowId: "invoice:1",
    runId,
    eventId: 7,
    at: "2026-01-01T00:00:00.000Z",
    type: "ACTIVITY_TASK_STARTED",
    activityId,
    attempt,
    identity,
  });
  expect(successorOf(task!, [started("2", 1, "worker@41"), started("3", 2, "worker@42")])).toMatchObject({
    attempt: 2,
    identity: "worker@42",
  });
  expect(successorOf(task!, [started("2", 1, "worker@41")])).toBeUndefined();
  // The same activity of the workflow's next run is another one.
  expect(successorOf(task!, [started("3", 1, "worker@42", "next")])).toBeUndefined();
});
