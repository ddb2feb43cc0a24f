/** What a process held when it was killed, by the taps' own record of what was delivered to it and what it answered. */
import type { BoundaryEvent, DeliveredTask } from "../taps/event.js";
import type { HistoryEvent } from "./history.js";

/** An activity task that the killed process had been given and whose answer the server never took. */
export interface LostTask {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
  readonly activityType: string;
  readonly attempt: number;
  /** The worker identity under which the tap saw it delivered. */
  readonly identity: string;
}

/**
 * Tasks that were delivered and not answered, oldest first. Of an activity only the newest delivery counts: an
 * earlier one that timed out was taken back by the server. One whose answer had been passed on before the kill isn't
 * open either, even if the server's word on it never came: it may have been taken.
 *
 * @param events of one run, up to the kill
 * @param withheld messages among them that were never passed on
 */
export function openTasks(
  events: readonly BoundaryEvent[],
  withheld: ReadonlySet<BoundaryEvent>,
): readonly DeliveredTask[] {
  const open = new Map<string, DeliveredTask>();
  for (const event of events) {
    const { details } = event;
    if (details.kind !== "temporal") continue;
    const answered = details.call.startsWith("Respond") ? details.task : null;
    if (answered && !withheld.has(event) && open.get(keyOf(answered))?.taskToken === answered.taskToken)
      open.delete(keyOf(answered));
    for (const task of details.delivered) open.set(keyOf(task), task);
  }
  return [...open.values()];
}

const keyOf = ({ kind, workflowId, runId, activityId }: DeliveredTask): string =>
  JSON.stringify([kind, workflowId, runId, activityId]);

/** Activity tasks among them; Temporal's history doesn't name the worker of an attempt that was lost, this does. */
export function lostActivityTasks(
  events: readonly BoundaryEvent[],
  withheld: ReadonlySet<BoundaryEvent>,
): readonly LostTask[] {
  return openTasks(events, withheld)
    .filter(({ kind }) => kind === "activity-task")
    .map(({ workflowId, runId, activityId, activityType, attempt, identity }) => ({
      workflowId,
      runId,
      activityId: activityId ?? "",
      activityType: activityType ?? "",
      attempt,
      identity,
    }));
}

/**
 * The identity of the process whose message was held: of the task that the message answers or brings, else of a task
 * of this run that the process was working on, else of the newest that it was given.
 */
export function identityAt(
  held: BoundaryEvent,
  events: readonly BoundaryEvent[],
  withheld: ReadonlySet<BoundaryEvent>,
): string | null {
  if (held.details.kind === "temporal") {
    const task = held.details.task ?? held.details.delivered[0];
    if (task) return task.identity;
  }
  const delivered = events.flatMap(({ details }) => (details.kind === "temporal" ? details.delivered : []));
  return (openTasks(events, withheld)[0] ?? delivered.at(-1))?.identity ?? null;
}

/** Who did the lost task's work in the end, as history says it: the one start that it keeps of each activity. */
export function successorOf(task: LostTask, history: readonly HistoryEvent[]): HistoryEvent | undefined {
  return history.findLast(
    ({ type, workflowId, runId, activityId }) =>
      type === "ACTIVITY_TASK_STARTED" &&
      workflowId === task.workflowId &&
      runId === task.runId &&
      activityId === task.activityId,
  );
}
