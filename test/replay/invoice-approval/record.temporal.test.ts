/**
 * Records a golden history: `RECORD_HISTORY=0.1.0-automatic npx vitest run --project temporal test/replay`. A recorded
 * file is never recorded again: it stands for the processes that are still open under that version.
 */
import { access, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { demoPolicy } from "../../../scenarios/invoice-approval/policy.js";
import {
  automaticBatch,
  automaticInvoices,
  startBatch,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import { invoiceRig } from "../../support/invoice-rig.js";
import { collectRuns, historyToJson } from "../../support/replay.js";

const name = process.env["RECORD_HISTORY"];
const rig = invoiceRig();

test.runIf(name)("records the automatic story's histories", async () => {
  const file = path.join(import.meta.dirname, `${name}.json`);
  await expect(access(file), `${file} must not be there yet`).rejects.toThrow();
  const token = "golden";
  const samples = automaticInvoices.filter(({ name: sample }) => sample === "office" || sample === "vat");
  await rig.putDocuments(token, samples);
  const runs = await rig.withWorker({}, async (taskQueue) => {
    const handle = await startBatch(rig.client, taskQueue, automaticBatch(token, demoPolicy, samples));
    await handle.result();
    return collectRuns(rig.client, [handle.workflowId]);
  });
  const histories = runs.map(({ workflowId, history }) => ({
    workflowId,
    history: historyToJson(history),
  }));
  await writeFile(file, `${JSON.stringify(histories, undefined, 2)}\n`);
});
