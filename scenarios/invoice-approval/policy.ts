/** The figures of the invoice process: those a business would set, and the same in seconds for demo, tests and lab. */
import type { InvoicePolicy } from "../../workflows/invoice-approval/policy.js";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export interface InvoiceScenarioPolicy {
  /** Goes into the workflow's input. */
  readonly workflow: InvoicePolicy;
  /** Belongs to the worker that talks to accounting, whatever invoice it is about. */
  readonly accounting: { readonly settleMs: number; readonly parkAfterMs: number };
}

const assessment: InvoicePolicy["assessment"] = {
  currencies: ["EUR", "USD", "GBP", "CHF"],
  reviewFromMinor: 1_000_00,
  twoApproversFromMinor: 10_000_00,
};

export const productionPolicy: InvoiceScenarioPolicy = {
  workflow: {
    assessment,
    activity: {
      // Six times the 10 s after which a call to an outside system counts as unanswered: room for asking, waiting
      // and sending again within one attempt.
      startToCloseMs: minuteMs,
      // Shorter would take a long garbage collection for a death; longer would leave a dead worker's posting open.
      heartbeatMs: 10 * secondMs,
      retryInitialMs: secondMs,
      retryBackoff: 2,
      retryMaximumMs: minuteMs,
      // A document store that is down overnight is repaired within a day; after that a person should know.
      giveUpAfterMs: dayMs,
    },
    workflowTaskTimeoutMs: 10 * secondMs,
    parked: { pollInitialMs: 10 * minuteMs, pollMaximumMs: dayMs },
    // Long enough for a weekend, short enough that an invoice is looked at before it is due.
    review: { deadlineMs: 3 * dayMs },
  },
  accounting: { settleMs: 10 * minuteMs, parkAfterMs: dayMs },
};

export const demoPolicy: InvoiceScenarioPolicy = {
  workflow: {
    assessment,
    activity: {
      // Twice the 10 s after which a call counts as unanswered, so that an attempt still records what became of it.
      startToCloseMs: 20 * secondMs,
      // A beat every 125 ms: short enough to see a recovery within a second, long enough for two busy cores.
      heartbeatMs: 500,
      // Always the same short wait, so that a retry isn't what the audience waits for.
      retryInitialMs: 50,
      retryBackoff: 1,
      retryMaximumMs: 50,
      giveUpAfterMs: minuteMs,
    },
    workflowTaskTimeoutMs: secondMs,
    parked: { pollInitialMs: secondMs, pollMaximumMs: 4 * secondMs },
    // A reviewer of the demo answers within a second; a busy machine must not make a review expire.
    review: { deadlineMs: minuteMs },
  },
  accounting: { settleMs: 5 * secondMs, parkAfterMs: 20 * secondMs },
};
