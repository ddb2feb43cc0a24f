/** The production worker with one statement more in an activity. */
import { sql } from "kysely";
import { wireActivities } from "../../../services/worker/activities.js";
import { runWorkerProcess } from "../../../services/worker/run-worker.js";

await runWorkerProcess(async (settings, ledger, identity) => {
  const activities = await wireActivities(settings, ledger, identity);
  return {
    ...activities,
    async postInvoice(...input: Parameters<typeof activities.postInvoice>) {
      const receipt = await activities.postInvoice(...input);
      await sql`update operations set changed_at = changed_at where key = ${input[0].operationKey}`.execute(
        ledger,
      );
      return receipt;
    },
  };
});
