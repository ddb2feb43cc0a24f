/** Temporal's own history as one of the observers: what it says of who took which activity, and when. */
import proto, { type temporal } from "@temporalio/proto";

/** One event of a workflow's history, as far as the lab compares it with what it did. */
export interface HistoryEvent {
  readonly workflowId: string;
  /** Which run under this id: a workflow may run again after its end. */
  readonly runId: string;
  /** Temporal's own number of the event in this workflow. */
  readonly eventId: number;
  /** ISO 8601, by the server's clock. */
  readonly at: string;
  /** Without the enum's prefix: `ACTIVITY_TASK_STARTED`. */
  readonly type: string;
  readonly activityId: string | null;
  /** Of the activity's start only: which attempt this was. */
  readonly attempt: number | null;
  /** The worker or client that caused the event, where history says so. */
  readonly identity: string | null;
}

const typeNames = proto.temporal.api.enums.v1.EventType;
const typePrefix = "EVENT_TYPE_";

/** A history event by event, in its own order. */
export function historyEvents(
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
  history: temporal.api.history.v1.IHistory,
): readonly HistoryEvent[] {
  const activityIds = new Map<string, string>();
  return (history.events ?? []).map((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) activityIds.set(String(event.eventId), scheduled.activityId ?? "");
    const started = event.activityTaskStartedEventAttributes;
    const ofActivity = scheduled
      ? String(event.eventId)
      : scheduledBy(started ?? event.activityTaskCompletedEventAttributes ?? null);
    return {
      workflowId,
      runId,
      eventId: Number(event.eventId),
      at: instantOf(event.eventTime),
      type: (typeNames[event.eventType ?? 0] ?? String(event.eventType)).replace(typePrefix, ""),
      activityId: ofActivity === null ? null : (activityIds.get(ofActivity) ?? null),
      attempt: started?.attempt ?? null,
      identity: identityOf(event),
    };
  });
}

const scheduledBy = (attributes: { readonly scheduledEventId?: unknown } | null): string | null =>
  attributes?.scheduledEventId === undefined || attributes.scheduledEventId === null
    ? null
    : String(attributes.scheduledEventId);

function identityOf(event: temporal.api.history.v1.IHistoryEvent): string | null {
  const identity =
    event.activityTaskStartedEventAttributes?.identity ??
    event.activityTaskCompletedEventAttributes?.identity ??
    event.activityTaskFailedEventAttributes?.identity ??
    event.workflowTaskStartedEventAttributes?.identity ??
    event.workflowTaskCompletedEventAttributes?.identity ??
    event.workflowExecutionStartedEventAttributes?.identity;
  return identity === undefined || identity === null || identity === "" ? null : identity;
}

function instantOf(time: temporal.api.history.v1.IHistoryEvent["eventTime"]): string {
  const seconds = Number(time?.seconds ?? 0);
  return new Date(seconds * 1_000 + Math.floor((time?.nanos ?? 0) / 1e6)).toISOString();
}
