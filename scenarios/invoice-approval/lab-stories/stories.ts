/** The stories of the invoice process: one for each way that an invoice can go. */
import { oneApprover, reviewIn, twoApprovers } from "../stories/approved.js";
import { automaticInvoices, invoiceKeyOf, type SampleInvoice } from "../stories/automatic.js";
import { answerQuestions } from "./accountant.js";
import { decideWhenOpen, resultOf, submit, submittedBatchId } from "./callers.js";
import { deadlinePassed, isDecidedOn, timerFired, untilSeen } from "./facts.js";
import { firstBatch, referenceOf, type InvoiceStory } from "./story.js";

/** Nobody has to look at it. */
const plain: SampleInvoice = automaticInvoices[0]!;

const reviewOf = (token: string, invoice: SampleInvoice): string =>
  reviewIn(submittedBatchId(firstBatch(token)), token, invoice);

const approved: InvoiceStory = {
  tells: "An invoice above the limit is approved by one reviewer, and posted.",
  invoice: oneApprover,
  act: async (scene) => [await decideWhenOpen(scene, "ann", reviewOf(scene.token, oneApprover), "approve")],
};

const rejected: InvoiceStory = {
  tells: "A reviewer rejects the invoice: nothing is posted, and its number is free again.",
  invoice: oneApprover,
  act: async (scene) => [await decideWhenOpen(scene, "ann", reviewOf(scene.token, oneApprover), "reject")],
};

const expired: InvoiceStory = {
  tells:
    "Nobody decides in time. Who decides after the deadline, before the process has asked how the review ended, is told that it has expired.",
  settings: "two seconds to decide",
  invoice: oneApprover,
  act: async (scene) => {
    const reviewId = reviewOf(scene.token, oneApprover);
    await untilSeen(scene.signal, () => deadlinePassed(scene.environment, reviewId));
    return [await decideWhenOpen(scene, "bob", reviewId, "approve")];
  },
  holds: [
    {
      process: "worker",
      tap: "temporal",
      label: "PollActivityTaskQueue:processInvoice:resolveReview",
      side: "after",
      until: (environment, token, signal) =>
        untilSeen(signal, () => isDecidedOn(environment, reviewOf(token, oneApprover))),
    },
  ],
};

const race: InvoiceStory = {
  tells:
    "An approval is committed before the deadline, and its hint comes after it: the decision stands, and the invoice is posted.",
  settings: "eight seconds to decide",
  invoice: oneApprover,
  act: approved.act!,
  holds: [
    {
      process: "relay",
      tap: "temporal",
      label: /^SignalWorkflowExecution:.*ticketClosed$/,
      side: "before",
      until: (environment, token, signal) =>
        untilSeen(signal, () => timerFired(environment, invoiceKeyOf(token, oneApprover))),
    },
  ],
};

const twoReviewers: InvoiceStory = {
  tells: "An invoice above the higher limit needs two reviewers, who decide at the same time.",
  invoice: twoApprovers,
  act: (scene) => {
    const reviewId = reviewOf(scene.token, twoApprovers);
    return Promise.all([
      decideWhenOpen(scene, "ann", reviewId, "approve"),
      decideWhenOpen(scene, "bob", reviewId, "approve"),
    ]);
  },
};

const repairedBatch = (token: string): string => `${token}-repaired`;

const refused: InvoiceStory = {
  tells:
    "Accounting refuses the posting for good. After the repair the corrected revision is handed in and posted once.",
  invoice: plain,
  faults: [{ kind: "refuse", system: "accounting", operation: "post", code: "supplier-blocked" }],
  act: async (scene) => {
    const { environment, token } = scene;
    const { failures } = await resultOf(scene, firstBatch(token));
    if (failures !== 1) throw new Error(`the batch ended with ${failures} failures instead of the refusal`);
    await environment.world.control.removeFaults(token);
    return [await submit(scene, { key: repairedBatch(token), invoices: [referenceOf(token, plain, 2)] })];
  },
  lastBatch: repairedBatch,
};

const unknown: InvoiceStory = {
  tells: "Accounting keeps no keys and its answer is lost: it is asked, the posting is found and recorded.",
  settings: "accounting without keys",
  invoice: plain,
  faults: [
    { kind: "noKeys", system: "accounting" },
    { kind: "dropAnswer", system: "accounting", operation: "post", times: 1 },
  ],
  parks: true,
};

const parked: InvoiceStory = {
  tells:
    "Accounting keeps no keys and can't be asked, and its answer is lost: the posting waits for a person, who looks and answers.",
  settings: "accounting that can't be asked",
  invoice: plain,
  faults: [
    { kind: "noKeys", system: "accounting" },
    { kind: "dropAnswer", system: "accounting", operation: "post", times: 1 },
  ],
  act: async (scene) => {
    await answerQuestions(scene, invoiceKeyOf(scene.token, plain));
    return [];
  },
};

export const invoiceStories = {
  approved,
  rejected,
  expired,
  race,
  "two-approvers": twoReviewers,
  refused,
  unknown,
  parked,
} as const satisfies Record<string, InvoiceStory>;
