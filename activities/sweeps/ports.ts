/** What the sweep needs: what the ledger has open, and what Temporal knows of the processes. */
import type { JsonValue } from "../operation/json.js";
import type { ProcessStart } from "../invoice-approval/steps.js";

export interface Page {
  /** What has changed since is on its way and isn't looked at. */
  readonly olderThanMs: number;
  /** The last id of the page before. */
  readonly after?: string;
  readonly limit: number;
}

export interface OpenRequest {
  readonly requestId: string;
  readonly workflowId: string;
  /** Of each invoice that was admitted. */
  readonly invoiceKeys: readonly string[];
}

export interface OpenRequests {
  /** Admitted or running, by id; without those whose start is still to be sent, or can't be. */
  page(page: Page): Promise<readonly OpenRequest[]>;
  /** Compare-and-set; a request that has ended stays as it is. */
  end(requestId: string, state: "completed" | "failed", result: JsonValue): Promise<void>;
}

/** An invoice that somebody holds in the register, and whose posting isn't known to have happened. */
export interface UnfinishedProcess {
  readonly processingId: string;
  readonly workflowId: string;
  /** Of the posting; `null` when accounting was never to be asked. */
  readonly operationState: string | null;
}

export interface EndedProcess extends UnfinishedProcess {
  /** How Temporal calls its end; `unknown` when it has forgotten it. */
  readonly status: string;
  readonly start?: ProcessStart;
}

export interface UnfinishedProcesses {
  /** By processing id; without those about which a person was asked already, or that are about to be started again. */
  page(page: Page): Promise<readonly UnfinishedProcess[]>;
  /** Insert-if-absent: one open question about one process. */
  report(process: EndedProcess): Promise<void>;
}

export interface OverdueTickets {
  /** Closes those whose deadline passed longer ago, each with the hint to its process. @returns how many */
  expire(query: { readonly overdueMs: number; readonly limit: number }): Promise<number>;
}

export type Standing =
  | { readonly standing: "unknown" }
  | { readonly standing: "running"; readonly start?: ProcessStart }
  | {
      readonly standing: "ended";
      /** COMPLETED, FAILED, CANCELLED, TERMINATED, TIMED_OUT. */
      readonly status: string;
      readonly start?: ProcessStart;
      /** Of a completed one. */
      readonly result?: JsonValue;
      /** Of every other one. */
      readonly failure?: { readonly type: string; readonly message: string };
    };

/** What Temporal knows of a workflow's last run. */
export interface ProcessDirectory {
  look(workflowId: string): Promise<Standing>;
}
