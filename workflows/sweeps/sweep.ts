/**
 * One sweep: what was left open by processes that have ended is ended or put before a person. Started by a schedule. It
 * keeps no place: each sweep looks at all that is open, so one that is skipped or fails is made good by the next.
 */
import { proxyActivities } from "@temporalio/workflow";
import type { SweepActivities } from "../../activities/sweeps/index.js";
import type { SweptPage } from "../../activities/sweeps/swept-page.js";
import { nonRetryableFailures } from "../../failures/catalogue.js";
import type { SweepPolicy } from "./policy.js";

export interface SweepResult {
  readonly requestsEnded: number;
  readonly processesReported: number;
  readonly ticketsExpired: number;
}

/** Three events each: far below a history's limit, and more open rows than the sweep is meant for. */
const pagesMax = 500;

export async function sweep(policy: SweepPolicy): Promise<SweepResult> {
  const { graceMs, pageSize, activity } = policy;
  const steps = proxyActivities<SweepActivities>({
    startToCloseTimeout: activity.startToCloseMs,
    heartbeatTimeout: activity.heartbeatMs,
    scheduleToCloseTimeout: activity.giveUpAfterMs,
    retry: {
      initialInterval: activity.retryInitialMs,
      maximumInterval: activity.retryMaximumMs,
      nonRetryableErrorTypes: [...nonRetryableFailures],
    },
  });
  const throughAll = async (step: (page: { olderThanMs: number; limit: number }) => Promise<SweptPage>) => {
    let changed = 0;
    let after: string | undefined;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const page = { olderThanMs: graceMs, limit: pageSize, ...(after === undefined ? {} : { after }) };
      const swept = await step(page);
      changed += swept.changed;
      if (swept.next === undefined) break;
      after = swept.next;
    }
    return changed;
  };
  const ticketsExpired = await steps.expireOverdueTickets({ overdueMs: graceMs, limit: pageSize });
  const processesReported = await throughAll(steps.reportEndedProcesses);
  const requestsEnded = await throughAll(steps.endOrphanedRequests);
  return { requestsEnded, processesReported, ticketsExpired };
}
