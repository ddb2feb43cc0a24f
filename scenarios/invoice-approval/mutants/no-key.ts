import { createPayloadStore } from "../../../adapters/ledger/payloads/payload-store.js";
import { wireAccounting } from "../../../services/worker/activities.js";
import { createNaivePosting } from "../naive/posting.js";
import { runMutantWorker } from "./worker.js";

// Neither journal nor a key that outlives the attempt.
await runMutantWorker(({ settings, ledger }) => ({
  postInvoice: createNaivePosting({
    payloads: createPayloadStore(ledger),
    accounting: wireAccounting(settings),
  }),
}));
