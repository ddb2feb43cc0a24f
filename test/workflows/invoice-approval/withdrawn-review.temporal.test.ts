/** Reviews that end without a decision: the batch was cancelled, or the decision came back as nothing that is known. */
import { ApplicationFailure } from "@temporalio/common";
import { expect, test } from "vitest";
import { listQuestions } from "../../../adapters/ledger/recovery/list-questions.js";
import { readTicket } from "../../../adapters/ledger/tickets/read-ticket.js";
import { invoiceKeyOf, startBatch } from "../../../scenarios/invoice-approval/stories/automatic.js";
import {
  approvedBatch,
  decide,
  oneApprover,
  reviewOf,
  seeReview,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import { invoiceWorkflowId } from "../../../workflows/invoice-approval/keys.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { reviewRig } from "../../support/review-rig.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const reviews = reviewRig(rig);
const replay = replayAfterEach(() => rig.client, workflowBundle);
const patience = () => AbortSignal.timeout(60_000);

async function questionAbout(invoiceKey: string) {
  const questions = await listQuestions(rig.database.ledger);
  return questions.find(({ subject }) => subject === invoiceWorkflowId(invoiceKey));
}

test("cancelled in review, the review is withdrawn, and who decides afterwards is told so", async () => {
  const token = rig.world.newRun();
  await rig.putDocuments(token, [oneApprover]);
  const invoiceKey = invoiceKeyOf(token, oneApprover);
  const { ann } = await reviews.openApi(token);
  await rig.withWorker({}, async (taskQueue) => {
    const batch = approvedBatch(token, patientPolicy, [oneApprover]);
    const started = replay.track(await startBatch(rig.client, taskQueue, batch));
    const seen = await seeReview(ann, reviewOf(token, oneApprover), patience());
    await started.cancel();
    expect(await started.result()).toMatchObject({
      failures: 1,
      outcomes: [{ outcome: "failed-visibly", invoiceKey, type: "Cancelled" }],
    });
    expect((await readTicket(rig.database.ledger, seen.reviewId))?.state).toBe("withdrawn");
    const late = await decide(ann, seen, "late", "approve");
    expect(late).toMatchObject({
      status: 409,
      body: {
        type: "urn:problem-type:killproof:ReviewClosed",
        detail: expect.stringContaining("has ended as withdrawn"),
        state: "withdrawn",
      },
    });
    expect(await decide(ann, seen, "late", "approve")).toEqual(late);
  });
  expect(await rig.world.journal.postingsOf(invoiceKey)).toEqual([]);
  expect(await questionAbout(invoiceKey)).toMatchObject({ reason: "Cancelled", answers: ["adopt"] });
});

test.each([
  ["an unrecognised decision", () => ({ state: "adjourned" }) as never],
  [
    "a decision that can't be resolved",
    () => {
      throw ApplicationFailure.nonRetryable("the review was opened and isn't there", "UnrecognisedResult");
    },
  ],
])("%s fails visibly, with a question to a person", async (_what, resolved) => {
  const token = rig.world.newRun();
  await rig.putDocuments(token, [oneApprover]);
  const invoiceKey = invoiceKeyOf(token, oneApprover);
  const policy = {
    ...patientPolicy,
    workflow: { ...patientPolicy.workflow, review: { deadlineMs: 1 } },
  };
  await rig.withWorker({ exchange: () => ({ resolveReview: async () => resolved() }) }, async (taskQueue) => {
    const batch = approvedBatch(token, policy, [oneApprover]);
    const started = replay.track(await startBatch(rig.client, taskQueue, batch));
    expect(await started.result()).toMatchObject({
      failures: 1,
      outcomes: [{ outcome: "failed-visibly", invoiceKey, type: "UnrecognisedResult" }],
    });
  });
  expect(await rig.world.journal.postingsOf(invoiceKey)).toEqual([]);
  expect(await questionAbout(invoiceKey)).toMatchObject({
    subject_kind: "invoice",
    reason: "UnrecognisedResult",
    answers: ["adopt", "redrive"],
    evidence: { restart: { workflowId: invoiceWorkflowId(invoiceKey) } },
  });
});
