/**
 * A workflow that is reset does again what its history no longer holds. What it did outside is still there: the
 * posting in accounting, the receipt in the journal, the decision in the ticket, the claim in the register.
 */
import { describe, expect, test } from "vitest";
import {
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  type SampleInvoice,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import {
  approvedBatch,
  decide,
  oneApprover,
  reviewOf,
  seeReview,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import { batchWorkflowId, invoiceWorkflowId, postingKey } from "../../../workflows/invoice-approval/keys.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { resetBefore, schedules, startsChild } from "../../support/reset.js";
import { reviewRig } from "../../support/review-rig.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const reviews = reviewRig(rig);
const replay = replayAfterEach(() => rig.client, workflowBundle);
const office = automaticInvoices[0]!;
const patience = () => AbortSignal.timeout(60_000);

async function batchOf(token: string, sample: SampleInvoice) {
  await rig.putDocuments(token, [sample]);
  return approvedBatch(token, patientPolicy, [sample]);
}

const received = async (token: string) =>
  (await rig.world.journal.read({ run: token, system: "accounting" })).filter(
    ({ kind }) => kind === "received",
  );

/** The new run, which the test's replay has to find: nothing in a history leads to it. */
async function resultOfReset(workflowId: string, before: Parameters<typeof resetBefore>[2]) {
  const handle = await resetBefore(rig.client, workflowId, before);
  replay.track(rig.client.workflow.getHandle(workflowId));
  return handle.result();
}

describe.each([
  ["cached", {}],
  ["replayed at every task", { maxCachedWorkflows: 0 }],
])("a reset, %s", (_mode, worker) => {
  test.each(["postInvoice", "validateInvoice", "extractInvoice"])(
    "to before %s, of an invoice that is posted: the same outcome from the journal, and accounting hears nothing",
    async (step) => {
      const token = rig.world.newRun();
      const batch = await batchOf(token, office);
      const invoiceKey = invoiceKeyOf(token, office);
      await rig.withWorker(worker, async (taskQueue) => {
        const first = await replay.track(await startBatch(rig.client, taskQueue, batch)).result();
        expect(await resultOfReset(invoiceWorkflowId(invoiceKey), schedules(step))).toEqual(
          first.outcomes[0],
        );
      });
      const postings = await rig.world.journal.postingsOf(invoiceKey);
      expect(postings.map(({ entry }) => entry.idempotencyKey)).toEqual([postingKey(invoiceKey)]);
      expect(await received(token)).toHaveLength(1);
    },
  );

  test("to before the posting, after accounting's answer was lost for good: reconciled, not sent as something new", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, office);
    const invoiceKey = invoiceKeyOf(token, office);
    await rig.loseNextPostingAnswer(token);
    let attempts = 0;
    let lost!: () => void;
    const answerLost = new Promise<void>((resolve) => (lost = resolve));
    const exchange: NonNullable<Parameters<typeof rig.withWorker>[0]["exchange"]> = ({ postInvoice }) => ({
      postInvoice: async (request) => {
        attempts += 1;
        if (attempts > 1) return postInvoice(request);
        await postInvoice(request).catch(() => undefined);
        lost();
        throw new Error("its worker has lost the answer");
      },
    });
    await rig.withWorker({ ...worker, exchange }, async (taskQueue) => {
      const started = replay.track(await startBatch(rig.client, taskQueue, batch));
      await answerLost;
      await started.result();
      expect(await resultOfReset(invoiceWorkflowId(invoiceKey), schedules("postInvoice"))).toMatchObject({
        outcome: "posted",
        invoiceKey,
      });
    });
    expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
    expect(new Set((await received(token)).map(({ idempotencyKey }) => idempotencyKey))).toEqual(
      new Set([postingKey(invoiceKey)]),
    );
  });

  test.each(["openReview", "resolveReview"])(
    "to before %s, of an invoice that was approved: the decision stands, nobody is asked again, one posting",
    async (step) => {
      const token = rig.world.newRun();
      const batch = await batchOf(token, oneApprover);
      const invoiceKey = invoiceKeyOf(token, oneApprover);
      const { ann } = await reviews.openApi(token);
      await reviews.withRelay(() =>
        rig.withWorker(worker, async (taskQueue) => {
          const started = replay.track(await startBatch(rig.client, taskQueue, batch));
          const seen = await seeReview(ann, reviewOf(token, oneApprover), patience());
          await decide(ann, seen, "d", "approve");
          const first = await started.result();
          expect(await resultOfReset(invoiceWorkflowId(invoiceKey), schedules(step))).toEqual(
            first.outcomes[0],
          );
        }),
      );
      expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
      expect(await received(token)).toHaveLength(1);
      const mails = reviews.mails.filter(({ key }) => key.includes(token));
      expect(mails).toHaveLength(batch.admission!.reviewerMails.length);
    },
  );

  test("of an invoice while it waits for its review: the new run takes the same ticket to its end", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, oneApprover);
    const invoiceKey = invoiceKeyOf(token, oneApprover);
    const { ann } = await reviews.openApi(token);
    await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const started = replay.track(await startBatch(rig.client, taskQueue, batch));
        const seen = await seeReview(ann, reviewOf(token, oneApprover), patience());
        const reset = await resetBefore(rig.client, invoiceWorkflowId(invoiceKey), schedules("openReview"));
        await decide(ann, seen, "d", "approve");
        expect(await reset.result()).toMatchObject({ outcome: "posted", invoiceKey });
        expect((await started.result()).outcomes[0]).toMatchObject({ outcome: "posted", invoiceKey });
      }),
    );
    expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
  });

  test("of a batch to before its children, after they were posted: the same result once more", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, office);
    const invoiceKey = invoiceKeyOf(token, office);
    await rig.withWorker(worker, async (taskQueue) => {
      const first = await replay.track(await startBatch(rig.client, taskQueue, batch)).result();
      expect(await resultOfReset(batchWorkflowId(batch.batchId), startsChild)).toEqual(first);
    });
    expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
    expect(await received(token)).toHaveLength(1);
  });

  test("of a batch while its invoice waits: no second process, no second posting; the batch names the open one", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, oneApprover);
    const invoiceKey = invoiceKeyOf(token, oneApprover);
    const { ann } = await reviews.openApi(token);
    await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        await startBatch(rig.client, taskQueue, batch);
        const seen = await seeReview(ann, reviewOf(token, oneApprover), patience());
        expect(await resultOfReset(batchWorkflowId(batch.batchId), startsChild)).toMatchObject({
          outcomes: [{ outcome: "duplicate", duplicateOf: invoiceWorkflowId(invoiceKey) }],
        });
        await decide(ann, seen, "d", "approve");
        const invoice = replay.track(rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKey)));
        expect(await invoice.result()).toMatchObject({ outcome: "posted", invoiceKey });
      }),
    );
    expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
  });
});
