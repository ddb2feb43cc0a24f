/** Resetting a workflow, as an operator does with `temporal workflow reset`. */
import { randomUUID } from "node:crypto";
import type { Client, WorkflowHandle } from "@temporalio/client";
import type { History } from "./replay.js";

type HistoryEvent = NonNullable<History["events"]>[number];

/**
 * Starts a new run from the last workflow task before the first event that `isTooFar` accepts: what that event and
 * all later ones did is done again.
 *
 * @returns the handle of the new run
 * @throws Error when no event is accepted, or no workflow task was completed before it
 */
export async function resetBefore(
  client: Client,
  workflowId: string,
  isTooFar: (event: HistoryEvent) => boolean,
): Promise<WorkflowHandle> {
  const handle = client.workflow.getHandle(workflowId);
  const { events } = await handle.fetchHistory();
  const end = (events ?? []).findIndex(isTooFar);
  if (end === -1) throw new Error(`${workflowId} has no such event`);
  // The task that led to the event is done again, so its completion is where the new run parts from the old one.
  const task = (events ?? []).slice(0, end).findLast((event) => event.workflowTaskCompletedEventAttributes);
  if (!task) throw new Error(`${workflowId} had no completed workflow task before that event`);
  const { runId } = await handle.describe();
  const reset = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: task.eventId!,
    requestId: randomUUID(),
    reason: "a test of the reset",
  });
  return client.workflow.getHandle(workflowId, reset.runId);
}

/** The event that asks for the activity. */
export function schedules(activity: string): (event: HistoryEvent) => boolean {
  return (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === activity;
}

/** The event that asks for a child. */
export function startsChild(event: HistoryEvent): boolean {
  return Boolean(event.startChildWorkflowExecutionInitiatedEventAttributes);
}
