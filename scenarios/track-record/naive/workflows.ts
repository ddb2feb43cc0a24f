/**
 * An approval as one writes it at first: clicks come as signals and are counted, whoever reaches the number posts, and
 * what is posted is what the document says then.
 */
import { allHandlersFinished, condition, proxyActivities, setHandler } from "@temporalio/workflow";
import type { NaiveActivities } from "./approval-worker.js";
import { approve, type NaiveApproval } from "./messages.js";

const { postDocument, sendReminder } = proxyActivities<NaiveActivities>({
  startToCloseTimeout: 10_000,
  heartbeatTimeout: 1_000,
  retry: { initialInterval: 200, backoffCoefficient: 1 },
});

export async function naiveApproval(invoice: NaiveApproval): Promise<{ readonly outcome: string }> {
  let approvals = 0;
  let posted = 0;
  setHandler(approve, async () => {
    approvals += 1; // ← who, and what they saw, isn't asked
    if (approvals < invoice.approvalsNeeded) return;
    await postDocument(invoice);
    posted += 1;
  });
  for (const reviewer of invoice.reviewers) await sendReminder(invoice, reviewer);
  await condition(() => posted > 0, invoice.deadlineMs);
  await condition(allHandlersFinished);
  return { outcome: posted > 0 ? "posted" : "expired" };
}
