import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { runMutantWorker } from "./worker.js";

// A lost attempt is taken for an effect that didn't happen, and nobody asks.
await runMutantWorker(({ activities }) => ({
  async postInvoice(request) {
    if (Context.current().info.attempt > 1)
      throw ApplicationFailure.nonRetryable("the first attempt failed", "OperationRefused");
    return activities.postInvoice(request);
  },
}));
