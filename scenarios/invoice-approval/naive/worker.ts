/** The production worker with one activity exchanged, to show what the journal and the key are for. */
import { createPayloadStore } from "../../../adapters/ledger/payloads/payload-store.js";
import { wireAccounting, wireActivities } from "../../../services/worker/activities.js";
import { runWorkerProcess } from "../../../services/worker/run-worker.js";
import { createNaivePosting } from "./posting.js";

await runWorkerProcess(async (settings, ledger, identity) => ({
  ...(await wireActivities(settings, ledger, identity)),
  postInvoice: createNaivePosting({
    payloads: createPayloadStore(ledger),
    accounting: wireAccounting(settings),
  }),
}));
