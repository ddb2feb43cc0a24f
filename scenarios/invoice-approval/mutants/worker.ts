/** The production worker with some of its activities or adapters exchanged. */
import type { InvoiceActivities } from "../../../activities/invoice-approval/index.js";
import type { Ledger } from "../../../adapters/ledger/database.js";
import { wireActivities } from "../../../services/worker/activities.js";
import { runWorkerProcess } from "../../../services/worker/run-worker.js";
import type { WorkerSettings } from "../../../services/worker/settings.js";

export interface MutantContext {
  readonly settings: WorkerSettings;
  readonly ledger: Ledger;
  readonly activities: InvoiceActivities;
}

/** @param change what is exchanged; everything else is production's */
export function runMutantWorker(
  change: (context: MutantContext) => Partial<InvoiceActivities>,
): Promise<void> {
  return runWorkerProcess(async (settings, ledger, identity) => {
    const activities = await wireActivities(settings, ledger, identity);
    return { ...activities, ...change({ settings, ledger, activities }) };
  });
}
