/** The relay's loop: rounds for as long as there is something to send, then a wait for the bell or the poll. */
import type { Bell } from "./wake.js";
import { dispatchRound, type Dispatcher } from "./dispatch.js";

export interface RelayOptions extends Dispatcher {
  readonly bell: Bell;
  /**
   * Longest wait without a notification, in milliseconds. It bounds how late a message is when a notification was
   * lost or another relay died with a lease.
   */
  readonly pollMs: number;
  readonly onLedgerFailure?: (error: unknown, retryAfterMs: number) => void;
}

const ledgerRetryMsMin = 500;
const ledgerRetryMsMax = 10_000;

/**
 * Runs until `stop` is aborted, and then ends the round that is under way: what was claimed is sent and settled, or
 * its calls run into their time-outs.
 */
export async function runRelay(options: RelayOptions, stop: AbortSignal): Promise<void> {
  const { bell, pollMs } = options;
  const wake = (): void => bell.ring();
  stop.addEventListener("abort", wake);
  const retries = new RetryTimes();
  let failures = 0;
  try {
    while (!stop.aborted) {
      try {
        const { claimed, retryAfterMs } = await dispatchRound(options);
        failures = 0;
        retries.add(retryAfterMs);
        if (claimed === 0) {
          await bell.wait(Math.min(pollMs, retries.nextMs()));
        }
      } catch (error) {
        failures += 1;
        const doubled = Math.min(ledgerRetryMsMin * 2 ** Math.min(failures - 1, 20), ledgerRetryMsMax);
        const retryAfterMs = Math.round(doubled * (1 + Math.random() / 2));
        options.onLedgerFailure?.(error, retryAfterMs);
        await bell.wait(retryAfterMs);
      }
    }
  } finally {
    stop.removeEventListener("abort", wake);
  }
}

/** When messages that this relay gave back can be claimed again, so that their back-off isn't stretched to a poll. */
class RetryTimes {
  #times: number[] = [];

  add(delaysMs: readonly number[]): void {
    const now = performance.now();
    this.#times = [...this.#times.filter((time) => time > now), ...delaysMs.map((delayMs) => now + delayMs)];
  }

  /** Milliseconds until the first of them; infinite when there is none. */
  nextMs(): number {
    return Math.max(0, Math.min(...this.#times) - performance.now());
  }
}
