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
  invoiceKeyOf,
  startBatch,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import {
  approvedBatch,
  decide,
  oneApprover,
  reviewOf,
  seeReview,
  twoApprovers,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { collectRuns, historyToJson, type Run } from "../../support/replay.js";
import { parkedThenAnswered } from "../../support/parked.js";
import { reviewRig } from "../../support/review-rig.js";
import { invoiceWorkflowId, postingKey } from "../../../workflows/invoice-approval/keys.js";
import { operationAnswered } from "../../../workflows/invoice-approval/messages.js";

const name = process.env["RECORD_HISTORY"];
const token = "golden";
const rig = invoiceRig();
const reviews = reviewRig(rig);
const office = automaticInvoices[0]!;

/** What is recorded, by the end of the file's name. */
const stories: Readonly<Record<string, () => Promise<readonly Run[]>>> = {
  automatic: recordAutomatic,
  approved: recordApproved,
  rejected: recordRejected,
  expired: recordExpired,
  duplicate: recordDuplicate,
  repaired: recordRepaired,
  parked: recordParked,
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

/** One invoice that a person rejects. */
async function recordRejected(): Promise<readonly Run[]> {
  await rig.putDocuments(token, [oneApprover]);
  const { ann } = await reviews.openApi(token);
  return reviews.withRelay(() =>
    rig.withWorker({}, async (taskQueue) => {
      const handle = await startBatch(
        rig.client,
        taskQueue,
        approvedBatch(token, patientPolicy, [oneApprover]),
      );
      const seen = await seeReview(ann, reviewOf(token, oneApprover), AbortSignal.timeout(60_000));
      await decide(ann, seen, "golden-ann", "reject");
      await handle.result();
      return collectRuns(rig.client, [handle.workflowId]);
    }),
  );
}

/** One invoice that nobody decides on: its deadline passes while it waits. */
async function recordExpired(): Promise<readonly Run[]> {
  await rig.putDocuments(token, [oneApprover]);
  const policy = { ...patientPolicy, workflow: { ...patientPolicy.workflow, review: { deadlineMs: 3_000 } } };
  return rig.withWorker({}, async (taskQueue) => {
    const handle = await startBatch(rig.client, taskQueue, approvedBatch(token, policy, [oneApprover]));
    await handle.result();
    const runs = await collectRuns(rig.client, [handle.workflowId]);
    const fired = runs.some(({ history }) =>
      history.events?.some((event) => event.timerFiredEventAttributes),
    );
    expect(fired, "it was to wait for its deadline").toBe(true);
    return runs;
  });
}

/** An invoice that is posted in one batch, and comes again in another. */
async function recordDuplicate(): Promise<readonly Run[]> {
  await rig.putDocuments(token, [office]);
  const first = automaticBatch(token, demoPolicy, [office]);
  return rig.withWorker({}, async (taskQueue) => {
    const handles = [];
    for (const batchId of [first.batchId, `${first.batchId}-again`]) {
      const handle = await startBatch(rig.client, taskQueue, { ...first, batchId });
      await handle.result();
      handles.push(handle);
    }
    return collectRuns(
      rig.client,
      handles.map(({ workflowId }) => workflowId),
    );
  });
}

/** An invoice that accounting refuses, and whose corrected revision is posted. */
async function recordRepaired(): Promise<readonly Run[]> {
  await rig.putDocuments(token, [office]);
  const refusal = await rig.world.control.tellFault({
    kind: "refuse",
    run: token,
    system: "accounting",
    operation: "post",
    code: "supplier-blocked",
  });
  const first = automaticBatch(token, demoPolicy, [office]);
  return rig.withWorker({}, async (taskQueue) => {
    const refused = await startBatch(rig.client, taskQueue, first);
    await refused.result();
    await rig.world.control.removeFault(refusal.id);
    const invoices = first.invoices.map((invoice) => ({ ...invoice, revision: 2 }));
    const corrected = await startBatch(rig.client, taskQueue, {
      ...first,
      batchId: `${first.batchId}-corrected`,
      invoices,
    });
    await corrected.result();
    return collectRuns(rig.client, [refused.workflowId, corrected.workflowId]);
  });
}

/** An invoice whose posting can't be known, and goes on by the hint that a person has answered. */
async function recordParked(): Promise<readonly Run[]> {
  await rig.putDocuments(token, [office]);
  await rig.loseNextPostingAnswer(token);
  const settings = { ACCOUNTING_HONOURS_KEYS: "no", ACCOUNTING_CAN_FIND: "no" };
  const invoiceKey = invoiceKeyOf(token, office);
  const operationKey = postingKey(invoiceKey);
  return rig.withWorker({ settings }, async (taskQueue) => {
    const handle = await startBatch(rig.client, taskQueue, automaticBatch(token, patientPolicy, [office]));
    await parkedThenAnswered(rig, invoiceKey, operationKey);
    await rig.client.workflow
      .getHandle(invoiceWorkflowId(invoiceKey))
      .signal(operationAnswered, { operationKey });
    await handle.result();
    return collectRuns(rig.client, [handle.workflowId]);
  });
}
