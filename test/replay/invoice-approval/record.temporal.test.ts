/**
 * Records a golden history: `RECORD_HISTORY=0.1.0-approved npx vitest run --project temporal test/replay`. A recorded
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
import {
  approvedBatch,
  decide,
  reviewOf,
  seeReview,
  twoApprovers,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { collectRuns, historyToJson, type Run } from "../../support/replay.js";
import { reviewRig } from "../../support/review-rig.js";

const name = process.env["RECORD_HISTORY"];
const token = "golden";
const rig = invoiceRig();
const reviews = reviewRig(rig);

/** What is recorded, by the end of the file's name. */
const stories: Readonly<Record<string, () => Promise<readonly Run[]>>> = {
  automatic: recordAutomatic,
  approved: recordApproved,
};

test.runIf(name)("records a story's histories", async () => {
  const file = path.join(import.meta.dirname, `${name}.json`);
  await expect(access(file), `${file} must not be there yet`).rejects.toThrow();
  const story = stories[name!.split("-").at(-1)!];
  expect(story, `${name} must end with one of ${Object.keys(stories).join(", ")}`).toBeDefined();
  const histories = (await story!()).map(({ workflowId, history }) => ({
    workflowId,
    history: historyToJson(history),
  }));
  await writeFile(file, `${JSON.stringify(histories, undefined, 2)}\n`);
});

async function recordAutomatic(): Promise<readonly Run[]> {
  const samples = automaticInvoices.filter(({ name: sample }) => sample === "office" || sample === "vat");
  await rig.putDocuments(token, samples);
  return rig.withWorker({}, async (taskQueue) => {
    const handle = await startBatch(rig.client, taskQueue, automaticBatch(token, demoPolicy, samples));
    await handle.result();
    return collectRuns(rig.client, [handle.workflowId]);
  });
}

/** One invoice that two people approve: the hint of the second one ends the wait. */
async function recordApproved(): Promise<readonly Run[]> {
  const samples = [twoApprovers];
  await rig.putDocuments(token, samples);
  const { ann, bob } = await reviews.openApi(token);
  return reviews.withRelay(() =>
    rig.withWorker({}, async (taskQueue) => {
      const handle = await startBatch(rig.client, taskQueue, approvedBatch(token, patientPolicy, samples));
      const seen = await seeReview(ann, reviewOf(token, twoApprovers), AbortSignal.timeout(60_000));
      await decide(ann, seen, "golden-ann", "approve");
      await decide(bob, seen, "golden-bob", "approve");
      await handle.result();
      return collectRuns(rig.client, [handle.workflowId]);
    }),
  );
}
