/** The production worker that also talks to the database past the tap, in the middle of an activity. */
import pg from "pg";
import { wireActivities } from "../../../services/worker/activities.js";
import { runWorkerProcess } from "../../../services/worker/run-worker.js";

await runWorkerProcess(async (settings, ledger, identity) => {
  const activities = await wireActivities(settings, ledger, identity);
  return {
    ...activities,
    async validateInvoice(...input: Parameters<typeof activities.validateInvoice>) {
      const client = new pg.Client({ connectionString: process.env["UNTAPPED_URL"]! });
      await client.connect();
      try {
        return await activities.validateInvoice(...input);
      } finally {
        await client.end();
      }
    },
  };
});
