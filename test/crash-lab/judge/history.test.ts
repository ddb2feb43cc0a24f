import proto from "@temporalio/proto";
import { expect, test } from "vitest";
import { historyEvents } from "../../../crash-lab/judge/history.js";

const { EventType } = proto.temporal.api.enums.v1;

test("an activity's start and end carry its id, attempt and worker", () => {
  const events = historyEvents(
    { workflowId: "invoice:1", runId: "r" },
    {
      events: [
        {
          eventId: 5 as never,
          eventType: EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
          eventTime: { seconds: 1 as never, nanos: 250_000_000 },
          activityTaskScheduledEventAttributes: { activityId: "9" },
        },
        {
          eventId: 6 as never,
          eventType: EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
          activityTaskStartedEventAttributes: {
            scheduledEventId: 5 as never,
            attempt: 2,
            identity: "worker@42",
          },
        },
        {
          eventId: 7 as never,
          eventType: EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
          activityTaskCompletedEventAttributes: { scheduledEventId: 5 as never, identity: "worker@42" },
        },
      ],
    },
  );
  expect(
    events.map(({ type, activityId, attempt, identity }) => [type, activityId, attempt, identity]),
  ).toEqual([
    ["ACTIVITY_TASK_SCHEDULED", "9", null, null],
    ["ACTIVITY_TASK_STARTED", "9", 2, "worker@42"],
    ["ACTIVITY_TASK_COMPLETED", "9", null, "worker@42"],
  ]);
  expect(events[0]!.at).toBe("1970-01-01T00:00:01.250Z");
});
