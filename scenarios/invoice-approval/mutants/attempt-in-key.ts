import { Context } from "@temporalio/activity";
import { runMutantWorker } from "./worker.js";

// The journal is there, and each attempt opens an operation of its own in it.
await runMutantWorker(({ activities }) => ({
  postInvoice: (request) =>
    activities.postInvoice({
      ...request,
      operationKey: `${request.operationKey}:attempt-${Context.current().info.attempt}`,
    }),
}));
