/** The figures of the sweep: for a deployment, and for demos and tests in seconds. */
import type { SweepPolicy } from "../../workflows/sweeps/policy.js";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

export type SweepProfileName = "production" | "demo";

export const sweepPolicies: Readonly<Record<SweepProfileName, SweepPolicy>> = {
  production: {
    // A terminated batch gives its place back within a quarter of an hour; more often would ask Temporal about every
    // review that waits for days.
    intervalMs: 5 * minuteMs,
    graceMs: 10 * minuteMs,
    // Two hundred calls of a few milliseconds: well within an attempt, and cheap to repeat.
    pageSize: 100,
    activity: {
      startToCloseMs: 2 * minuteMs,
      heartbeatMs: 10 * secondMs,
      retryInitialMs: secondMs,
      retryMaximumMs: 30 * secondMs,
      // Two sweeps later another one would have tried anyway.
      giveUpAfterMs: 10 * minuteMs,
    },
    workflowTaskTimeoutMs: 10 * secondMs,
  },
  demo: {
    intervalMs: 2 * secondMs,
    graceMs: secondMs,
    pageSize: 20,
    activity: {
      startToCloseMs: 20 * secondMs,
      // Nobody watches a sweep recover, so a busy machine isn't taken for a dead one.
      heartbeatMs: 5 * secondMs,
      retryInitialMs: 200,
      retryMaximumMs: secondMs,
      giveUpAfterMs: minuteMs,
    },
    workflowTaskTimeoutMs: 10 * secondMs,
  },
};
