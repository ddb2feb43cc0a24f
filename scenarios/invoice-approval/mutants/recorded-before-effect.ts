import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { postingOf } from "../../../activities/invoice-approval/post-invoice.js";
import { createPayloadNames } from "../../../adapters/ledger/invoices/payload-names.js";
import { createPayloadStore } from "../../../adapters/ledger/payloads/payload-store.js";
import { wireAccounting } from "../../../services/worker/activities.js";
import { runMutantWorker } from "./worker.js";

// "Posted" is written down first, and whoever finds it written down believes it.
await runMutantWorker(({ settings, ledger }) => {
  const payloads = createPayloadStore(ledger);
  const names = createPayloadNames(ledger);
  const accounting = wireAccounting(settings);
  return {
    async postInvoice(request) {
      const posting = await postingOf(payloads, request);
      const done = `${request.operationKey}:done`;
      if ((await names.lookUp(done)) !== undefined) return { entryReference: "as recorded", ...posting };
      await names.bind(done, request.payloadDigest);
      const signal = Context.current().cancellationSignal;
      const answer = await accounting.send(posting, { providerKey: request.operationKey, signal });
      if (answer.outcome === "done") return answer.receipt;
      throw ApplicationFailure.retryable(`accounting answered ${answer.outcome}`, "PostingFailed");
    },
  };
});
