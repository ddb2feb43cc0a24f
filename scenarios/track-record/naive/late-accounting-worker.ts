/** The production worker with a posting that takes accounting's answers at their word. */
import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { InvoiceActivities } from "../../../activities/invoice-approval/index.js";
import { postingOf } from "../../../activities/invoice-approval/post-invoice.js";
import { createPayloadStore } from "../../../adapters/ledger/payloads/payload-store.js";
import { wireAccounting, wireActivities } from "../../../services/worker/activities.js";
import { runWorkerProcess } from "../../../services/worker/run-worker.js";

await runWorkerProcess(async (settings, ledger, identity) => {
  const accounting = wireAccounting(settings);
  const payloads = createPayloadStore(ledger);
  const postInvoice: InvoiceActivities["postInvoice"] = async (request) => {
    const posting = await postingOf(payloads, request);
    const signal = Context.current().cancellationSignal;
    const answer = await accounting.send(posting, { providerKey: randomUUID(), signal });
    switch (answer.outcome) {
      case "done":
        return answer.receipt;
      case "exists":
      case "conflict":
      case "refused":
        // ← a 4xx is "no", isn't it
        throw ApplicationFailure.nonRetryable(`accounting answered ${answer.outcome}`, "PostingFailed");
      default:
        // ← and a time-out is "not done"
        throw ApplicationFailure.retryable(`accounting answered ${answer.outcome}`, "PostingFailed");
    }
  };
  return { ...(await wireActivities(settings, ledger, identity)), postInvoice };
});
