/**
 * The first approver clicks twice and the client repeats itself, the second one's approval comes while the task before
 * is being worked on, the worker is killed before it reports that task, and the deadline passes while nobody is there.
 */
import {
  batchWorkflowId,
  invoiceWorkflowId,
  processingIdOf,
  reviewIdOf,
} from "../../workflows/invoice-approval/keys.js";
import { seeReview } from "../invoice-approval/stories/approved.js";
import type { Outcome } from "./case.js";
import { reportOfTask } from "./held-message.js";
import { approve, naiveApproval } from "./naive/messages.js";
import { approvalsOf } from "./review-on-record.js";
import { isWaiting, timerHasFired, untilInHistory } from "./seen.js";
import { newPlay, putSample, startApi, startRelay, submit, type Stage } from "./stage.js";
import {
  conclude,
  deadlineMs,
  expectAnswer,
  keyOf,
  naiveApprovalOf,
  policy,
  referenceOf,
  sample,
  startSide,
} from "./two-approvers.js";

const grossMinor = 10_995_60;

export async function playDoubleClickRight(stage: Stage): Promise<Outcome> {
  const play = newPlay();
  const { client } = stage.environment;
  await putSample(stage, play, sample);
  const workflowId = invoiceWorkflowId(keyOf(play));
  const hold = reportOfTask(workflowId);
  const { ann, bob, submitter } = await startApi(stage, play, policy);
  const relay = await startRelay(stage, play, { name: "relay" });
  const first = await startSide(stage, play, "right", { name: "right-1", hold });
  const batchId = await submit(submitter, referenceOf(play));
  await untilInHistory(stage, workflowId, "a waiting review", isWaiting);
  const reviewId = reviewIdOf(processingIdOf(batchId, keyOf(play)), 1);
  const seen = await seeReview(ann, reviewId, stage.run.closing);

  const click = await expectAnswer(ann, seen, { id: "click-1", decision: "approve", answer: "counted" });
  const repeated = await expectAnswer(ann, seen, { id: "click-1", decision: "approve", answer: "counted" });
  if (JSON.stringify(click) !== JSON.stringify(repeated)) throw new Error("the repeat got another answer");
  await expectAnswer(ann, seen, { id: "click-2", decision: "approve", answer: "AlreadyDecided" });
  hold.arm(); // ← what is reported next is the task that the closing hint starts
  await expectAnswer(bob, seen, { id: "bob", decision: "approve", answer: "decided" });
  await hold.arrived;
  await first.kill("SIGKILL");
  hold.drop();
  await untilInHistory(stage, workflowId, "the deadline", timerHasFired);

  const second = await startSide(stage, play, "right", { name: "right-2" });
  const batch = client.workflow.getHandle(batchWorkflowId(batchId));
  const result = (await client.withAbortSignal(stage.run.closing, () => batch.result())) as {
    outcomes: { outcome: string }[];
  };
  return conclude(stage, play, {
    processes: [second, relay],
    approvals: () => approvalsOf(ann, reviewId),
    inside: result.outcomes.map(({ outcome }) => outcome).join(", "),
  });
}

export async function playDoubleClickNaive(stage: Stage): Promise<Outcome> {
  const play = newPlay();
  const { client } = stage.environment;
  await putSample(stage, play, sample);
  const workflowId = `naive-approval:${keyOf(play)}`;
  const hold = reportOfTask(workflowId);
  const first = await startSide(stage, play, "naive", { name: "naive-1", hold });
  const handle = await client.workflow.start(naiveApproval, {
    workflowId,
    taskQueue: play.taskQueue,
    workflowTaskTimeout: 1_000,
    args: [naiveApprovalOf(play, deadlineMs)],
  });
  await untilInHistory(stage, workflowId, "a waiting approval", isWaiting);

  hold.arm();
  await handle.signal(approve, { by: "ann" });
  await handle.signal(approve, { by: "ann" });
  await hold.arrived;
  await handle.signal(approve, { by: "bob" });
  await first.kill("SIGKILL");
  hold.drop();
  await untilInHistory(stage, workflowId, "the deadline", timerHasFired);

  const second = await startSide(stage, play, "naive", { name: "naive-2" });
  const result = (await client.withAbortSignal(stage.run.closing, () => handle.result())) as {
    outcome: string;
  };
  return conclude(stage, play, {
    processes: [second],
    approvals: () => [
      { by: "ann", amountMinor: grossMinor },
      { by: "bob", amountMinor: grossMinor },
    ],
    inside: result.outcome,
  });
}
