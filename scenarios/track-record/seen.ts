/** Waiting for what others can see of a workflow: its history. */
import { isGrpcServiceError } from "@temporalio/client";
import type { Stage } from "./stage.js";

/** `NOT_FOUND` of gRPC. */
const notFoundStatus = 5;

/** A history is asked for so often; it has no notification for whoever only looks on. */
const lookEveryMs = 50;
/** Longer than any step of a story takes on a busy machine; a story that doesn't come there has failed. */
const patienceMs = 60_000;

type Events = NonNullable<
  Awaited<
    ReturnType<ReturnType<Stage["environment"]["client"]["workflow"]["getHandle"]>["fetchHistory"]>
  >["events"]
>;

/** @throws Error when the workflow's history doesn't come to hold it within a minute */
export async function untilInHistory(
  { environment, run }: Stage,
  workflowId: string,
  what: string,
  holds: (events: Events) => boolean,
): Promise<void> {
  const handle = environment.client.workflow.getHandle(workflowId);
  await until(run.closing, `${what} in the history of ${workflowId}`, async () =>
    handle.fetchHistory().then(
      ({ events }) => holds(events ?? []),
      // Started by somebody else, so it may not be there yet.
      (error: unknown) => {
        if (isGrpcServiceError(error) && error.code === notFoundStatus) return false;
        throw error;
      },
    ),
  );
}

/** Asks again and again. @throws Error naming what, after a minute or when the run closes */
export async function until(
  closing: AbortSignal,
  what: string,
  holds: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    closing.throwIfAborted();
    if (performance.now() > deadline) throw new Error(`not seen within ${patienceMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** It waits: its timer runs, and no task of it is under way. */
export const isWaiting = (events: Events): boolean => Boolean(events.at(-1)?.timerStartedEventAttributes);

export const timerHasFired = (events: Events): boolean =>
  events.some((event) => event.timerFiredEventAttributes);
