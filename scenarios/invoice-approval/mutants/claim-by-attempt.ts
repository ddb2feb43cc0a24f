import { Context } from "@temporalio/activity";
import { runMutantWorker } from "./worker.js";

// Each attempt claims the invoice for itself, so a second one finds it held by somebody else.
await runMutantWorker(({ activities }) => ({
  validateInvoice: (request) =>
    activities.validateInvoice({
      ...request,
      processingId: `${request.processingId}:attempt-${Context.current().info.attempt}`,
    }),
}));
