/** The sweep's steps. Each looks at one page, so that a long one is never repeated whole. */
import { sweepProcesses, type ProcessSweepDependencies } from "./processes.js";
import type { OverdueTickets, Page } from "./ports.js";
import { sweepRequests, type RequestSweepDependencies } from "./requests.js";
import type { SweptPage } from "./swept-page.js";

export interface SweepDependencies extends RequestSweepDependencies, ProcessSweepDependencies {
  readonly tickets: OverdueTickets;
}

export type SweepActivities = ReturnType<typeof createSweepActivities>;

export function createSweepActivities(dependencies: SweepDependencies) {
  return {
    /**
     * Ends the requests whose batch has ended without telling, once all of their invoices have ended.
     *
     * Crash before, during or after: each request is one compare-and-set; repeating it finds the ends that are there.
     */
    endOrphanedRequests: (page: Page): Promise<SweptPage> => sweepRequests(dependencies, page),

    /**
     * Asks a person about each invoice that is held or perhaps posted while its process has ended.
     *
     * Crash before, during or after: each question is one insert-if-absent; repeating it adds none.
     */
    reportEndedProcesses: (page: Page): Promise<SweptPage> => sweepProcesses(dependencies, page),

    /**
     * Closes reviews past their deadline whose process did not move, and wakes it.
     *
     * Crash before, during or after: each review is one transaction with its hint; repeating it finds them closed.
     */
    expireOverdueTickets: (query: { readonly overdueMs: number; readonly limit: number }): Promise<number> =>
      dependencies.tickets.expire(query),
  };
}
