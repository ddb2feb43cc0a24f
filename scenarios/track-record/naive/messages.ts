/** The naive approval as whoever starts it sees it: its name, its input and what may be said to it. */
import { defineSignal } from "@temporalio/workflow";

export interface NaiveApproval {
  readonly invoiceKey: string;
  readonly documentId: string;
  readonly approvalsNeeded: number;
  readonly deadlineMs: number;
  readonly reviewers: readonly string[];
}

export const naiveApproval = "naiveApproval";

/** Somebody has clicked on "approve". */
export const approve = defineSignal<[{ readonly by: string }]>("approve");
