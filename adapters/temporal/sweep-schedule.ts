/** The schedule that starts the sweeps. */
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from "@temporalio/client";

export interface SweepSchedule {
  readonly taskQueue: string;
  readonly intervalMs: number;
  readonly workflowTaskTimeoutMs: number;
  /** The workflow's one argument. */
  readonly policy: object;
}

/** One for each task queue: deployments that share a namespace sweep each their own ledger. */
export function sweepScheduleId(taskQueue: string): string {
  return `sweep:${taskQueue}`;
}

/** The least that the server takes. */
const catchupWindowMsMin = 10_000;

/**
 * Creates the schedule, or brings the one that is there to these figures; whether somebody has paused it stays as it is.
 * Repeating it changes nothing.
 */
export async function ensureSweepSchedule(
  client: Client,
  schedule: SweepSchedule,
): Promise<"created" | "updated"> {
  const { taskQueue, intervalMs, workflowTaskTimeoutMs, policy } = schedule;
  const scheduleId = sweepScheduleId(taskQueue);
  const definition = {
    spec: { intervals: [{ every: intervalMs }] },
    action: {
      type: "startWorkflow" as const,
      workflowType: "sweep",
      workflowId: scheduleId,
      taskQueue,
      workflowTaskTimeout: workflowTaskTimeoutMs,
      args: [policy],
    },
    policies: {
      // A sweep looks at all that is open. A second one beside it would only look at the same.
      overlap: ScheduleOverlapPolicy.SKIP,
      // For the same reason one sweep makes good for all that a server that was away has missed.
      catchupWindow: Math.max(intervalMs, catchupWindowMsMin),
    },
  };
  try {
    await client.schedule.create({ scheduleId, ...definition });
    return "created";
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...definition, state }));
  return "updated";
}
