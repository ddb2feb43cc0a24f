/** The amount is changed after the first of two people has approved it. */
import { batchWorkflowId, processingIdOf, reviewIdOf } from "../../workflows/invoice-approval/keys.js";
import { seeReview } from "../invoice-approval/stories/approved.js";
import type { Outcome } from "./case.js";
import { approve, naiveApproval } from "./naive/messages.js";
import { approvalsOf } from "./review-on-record.js";
import { isWaiting, untilInHistory } from "./seen.js";
import {
  newPlay,
  putSample,
  putText,
  sampleText,
  startApi,
  startRelay,
  submit,
  type Play,
  type Stage,
} from "./stage.js";
import {
  conclude,
  expectAnswer,
  keyOf,
  naiveApprovalOf,
  patientPolicy,
  referenceOf,
  sample,
  startSide,
} from "./two-approvers.js";

/** Gross totals before and after. */
const approvedMinor = 10_995_60;
const changedMinor = 12_495_00;

async function changeAmount(stage: Stage, play: Play): Promise<void> {
  const text = (await sampleText(play, sample))
    .replaceAll("9240.00", "10500.00")
    .replaceAll("1755.60", "1995.00")
    .replaceAll("10995.60", "12495.00");
  await putText(stage, play, sample, text);
}

/**
 * The second approver sees in the review what would be posted, which isn't what the paper says now, and rejects. The
 * corrected revision is a review of its own: the approval of the first amount is worth nothing there.
 */
export async function playChangedAmountRight(stage: Stage): Promise<Outcome> {
  const play = newPlay();
  const { client } = stage.environment;
  await putSample(stage, play, sample);
  const { ann, bob, submitter } = await startApi(stage, play, patientPolicy);
  const relay = await startRelay(stage, play, { name: "relay" });
  const worker = await startSide(stage, play, "right", { name: "right-1" });
  const reviewIn = (batchId: string, revision: number) =>
    reviewIdOf(processingIdOf(batchId, keyOf(play)), revision);
  const resultOf = (batchId: string) =>
    client.withAbortSignal(
      stage.run.closing,
      () =>
        client.workflow.getHandle(batchWorkflowId(batchId)).result() as Promise<{
          outcomes: { outcome: string }[];
        }>,
    );

  const firstBatch = await submit(submitter, referenceOf(play));
  const before = await seeReview(ann, reviewIn(firstBatch, 1), stage.run.closing);
  await expectAnswer(ann, before, { id: "ann-1", decision: "approve", answer: "counted" });
  await changeAmount(stage, play); // ← after one approval
  await expectAnswer(bob, before, { id: "bob-1", decision: "reject", answer: "decided" });
  await resultOf(firstBatch);

  const secondBatch = await submit(submitter, referenceOf(play, 2));
  const after = await seeReview(bob, reviewIn(secondBatch, 2), stage.run.closing);
  await expectAnswer(
    ann,
    { ...before, reviewId: after.reviewId },
    { id: "ann-old", decision: "approve", answer: "ReviewMismatch" },
  );
  await expectAnswer(bob, after, { id: "bob-2", decision: "approve", answer: "counted" });
  await expectAnswer(ann, after, { id: "ann-2", decision: "approve", answer: "decided" });
  const { outcomes } = await resultOf(secondBatch);
  return conclude(stage, play, {
    processes: [worker, relay],
    approvals: () => approvalsOf(ann, after.reviewId),
    inside: outcomes.map(({ outcome }) => outcome).join(", "),
  });
}

export async function playChangedAmountNaive(stage: Stage): Promise<Outcome> {
  const play = newPlay();
  const { client } = stage.environment;
  await putSample(stage, play, sample);
  const workflowId = `naive-approval:${keyOf(play)}`;
  const worker = await startSide(stage, play, "naive", { name: "naive-1" });
  const handle = await client.workflow.start(naiveApproval, {
    workflowId,
    taskQueue: play.taskQueue,
    args: [naiveApprovalOf(play, 600_000)],
  });
  await untilInHistory(stage, workflowId, "a waiting approval", isWaiting);
  await handle.signal(approve, { by: "ann" });
  await changeAmount(stage, play);
  await handle.signal(approve, { by: "bob" });
  const result = (await client.withAbortSignal(stage.run.closing, () => handle.result())) as {
    outcome: string;
  };
  return conclude(stage, play, {
    processes: [worker],
    approvals: () => [
      { by: "ann", amountMinor: approvedMinor },
      { by: "bob", amountMinor: changedMinor },
    ],
    inside: result.outcome,
  });
}
