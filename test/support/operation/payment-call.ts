/** A payment as the operation tests ask for it, and how they run it. */
import type { BusinessProjection } from "../../../activities/operation/fingerprint.js";
import type { PerformContext } from "../../../activities/operation/context.js";
import type { Payment, VirtualClock } from "./provider-model.js";

export const paymentProjection: BusinessProjection<Payment> = {
  version: 1,
  of: ({ reference, amountMinor }) => ({ reference, amountMinor }),
};

export const payment = (reference: string, amountMinor = 12_000): Payment => ({ reference, amountMinor });

/** A context on a virtual clock: waiting only moves the clock. */
export function virtualContext(clock: VirtualClock, more: Partial<PerformContext> = {}): PerformContext {
  return {
    attempt: 1,
    worker: "worker-1",
    signal: new AbortController().signal,
    patienceMs: 0,
    now: clock.now,
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      clock.advance(ms);
    },
    ...more,
  };
}
