/** What `perform` takes from the one who runs it: identity, cancellation, and how to wait. */
import { setTimeout as delay } from "node:timers/promises";

import type { Entrant } from "./journal.js";

export interface PerformContext {
  /** Temporal's attempt, for the events only: it starts again at 1 after a reset, so no key or guard uses it. */
  readonly attempt: number;
  /** Who this is, for the events: the worker's identity. */
  readonly worker: string;
  /** Cancellation. Its reason is thrown when nothing was sent yet. */
  readonly signal: AbortSignal;
  /**
   * How long, in milliseconds, one call may wait and look again before it gives the waiting back to its caller.
   * Longer than the provider's `settleMs` keeps an uncertain send of a provider *without keys* in the one process
   * that can prove that its call has ended; elsewhere it is parked. Default 1,000: enough for a rival to finish.
   */
  readonly patienceMs?: number;
  /**
   * How long, in milliseconds, after a cancellation a send may still take to be answered; default 5,000. Too short
   * leaves an unknown outcome to ask about, too long holds up a worker that wants to stop.
   */
  readonly graceMs?: number;
  /** A clock that never goes back, in milliseconds; default the process's. */
  readonly now?: () => number;
  /** Waits; rejects when the signal aborts. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const defaultPatienceMs = 1_000;
const defaultGraceMs = 5_000;

/** `PerformContext` with its defaults filled in. */
export interface Runtime {
  readonly entrant: Entrant;
  readonly signal: AbortSignal;
  readonly graceMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function runtimeOf(context: PerformContext): Runtime {
  return {
    entrant: { attempt: context.attempt, worker: context.worker },
    signal: context.signal,
    graceMs: context.graceMs ?? defaultGraceMs,
    now: context.now ?? (() => performance.now()),
    sleep: context.sleep ?? sleepUnlessAborted,
  };
}

async function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** The time that one call may spend waiting. */
export class Patience {
  #leftMs: number;
  readonly #runtime: Runtime;
  constructor(ms: number, runtime: Runtime) {
    this.#leftMs = ms;
    this.#runtime = runtime;
  }

  /**
   * Waits, if the patience lasts that long.
   *
   * @param ms `undefined` when nobody can say how long; then the caller's back-off knows better.
   * @returns false when it didn't wait.
   * @throws the cancellation's reason when cancelled while waiting.
   */
  async wait(ms: number | undefined): Promise<boolean> {
    if (ms === undefined || ms > this.#leftMs) {
      return false;
    }
    // A wait of no length still takes something, so that the number of rounds has an end.
    this.#leftMs -= Math.max(ms, 1);
    await this.#runtime.sleep(ms, this.#runtime.signal);
    return true;
  }
}
