/**
 * Signs of life by the clock: as long as the process lives, each running activity beats, whatever it waits for. A
 * killed worker is then noticed after the heartbeat time-out and not only after the longest call that might be
 * running. That a call hangs is another matter, which `startToCloseTimeout` bounds.
 */
import type { Context } from "@temporalio/activity";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";

/**
 * Beats within one heartbeat time-out. Four: three may be late or lost before a living attempt counts as dead. Fewer
 * would start second attempts beside first ones under load, more would only be calls.
 */
const beatsPerTimeout = 4;
/** Below this, beating would be most of the work. */
const intervalMsMin = 20;

export const beatByTheClock: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    execute: async (input, next) => {
      const stop = startBeating(context);
      try {
        return await next(input);
      } finally {
        stop();
      }
    },
  },
});

/** @returns a function that stops the beating */
function startBeating(context: Context): () => void {
  const intervalMs = heartbeatIntervalMs(context.info.heartbeatTimeoutMs);
  if (intervalMs === undefined) return () => undefined;
  const timer = setInterval(() => context.heartbeat(), intervalMs);
  // The first at once: the server counts from the start of the attempt.
  context.heartbeat();
  return () => clearInterval(timer);
}

/** @returns undefined when the activity was started without a heartbeat time-out */
export function heartbeatIntervalMs(heartbeatTimeoutMs: number | undefined): number | undefined {
  if (!heartbeatTimeoutMs) return undefined;
  return Math.max(intervalMsMin, Math.floor(heartbeatTimeoutMs / beatsPerTimeout));
}
