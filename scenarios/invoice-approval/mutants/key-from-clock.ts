import { runMutantWorker } from "./worker.js";

// The key says when it was made instead of what is done.
await runMutantWorker(({ activities }) => ({
  postInvoice: (request) =>
    activities.postInvoice({ ...request, operationKey: `${request.operationKey}:${Date.now()}` }),
}));
