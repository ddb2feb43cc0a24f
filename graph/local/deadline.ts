import { GraphError } from "../core/errors.js";
import type { TimeoutRule } from "../core/manifest.js";

/** Watches one attempt of a task. */
export interface Watch {
  /** Rejects with `NodeTimeoutError` when the time is over. */
  readonly over: Promise<never>;
  /** Something was emitted. */
  progress(): void;
  /** The code says that it makes progress. */
  heartbeat(): void;
  stop(): void;
}

/** Starts the timers of an attempt. */
export function watch(node: string, rule: TimeoutRule): Watch {
  let fail: (error: GraphError) => void;
  const over = new Promise<never>((_resolve, reject) => (fail = reject));
  // Whoever races against it sees the rejection; without a race it is nobody's.
  over.catch(() => undefined);
  const timedOut = (kind: string, limitMs: number) => () =>
    fail(new GraphError("NodeTimeoutError", `node "${node}" exceeded its ${kind} time-out of ${limitMs} ms`));
  const run = rule.runMs === undefined ? undefined : setTimeout(timedOut("run", rule.runMs), rule.runMs);
  const idle = rule.idleMs === undefined ? undefined : setTimeout(timedOut("idle", rule.idleMs), rule.idleMs);
  return {
    over,
    progress: () => {
      if (rule.refresh === "auto") idle?.refresh();
    },
    heartbeat: () => void idle?.refresh(),
    stop: () => {
      clearTimeout(run);
      clearTimeout(idle);
    },
  };
}

/** Waits, or less when the signal aborts. */
export async function sleep(durationMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, durationMs);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
