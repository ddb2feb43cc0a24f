/** A full batch: one invoice waits for people, one can't be read, one is wrong, and none of them holds up the others. */
import { describe, expect, test, vi } from "vitest";
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
import { invoiceWorkflowId, postingKey, processingIdOf } from "../../../workflows/invoice-approval/keys.js";
import { invoiceStateQuery } from "../../../workflows/invoice-approval/messages.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { reviewRig } from "../../support/review-rig.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const reviews = reviewRig(rig);
const replay = replayAfterEach(() => rig.client, workflowBundle);

const [office, hosting, cleaning, swiss, wrongSum] = automaticInvoices as readonly [
  SampleInvoice,
  SampleInvoice,
  SampleInvoice,
  SampleInvoice,
  SampleInvoice,
];
const hybrid: SampleInvoice = {
  name: "hybrid",
  file: "hosting-hybrid.pdf",
  mediaType: "application/pdf",
  expected: "posted",
};
const unreadable: SampleInvoice = { ...office, name: "unreadable", file: "document-type.xml" };

const posting = [office, hosting, cleaning, swiss, hybrid];
const eight = [oneApprover, office, unreadable, hosting, wrongSum, cleaning, swiss, hybrid];

async function batchOf(token: string) {
  await rig.putDocuments(token, eight);
  return approvedBatch(token, patientPolicy, eight);
}

const childOf = (token: string, sample: SampleInvoice) =>
  rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKeyOf(token, sample)));

async function untilWaiting(token: string) {
  const child = childOf(token, oneApprover);
  await vi.waitFor(async () => expect(await child.query(invoiceStateQuery)).toBe("in-review"), {
    timeout: 60_000,
    interval: 50,
  });
}

/** What the ledger says was posted, and what accounting's own journal says: the same invoices, the same content. */
async function expectBooksToAgree(token: string, expected: readonly SampleInvoice[]) {
  const operations = await rig.database.ledger
    .selectFrom("operations")
    .select(["key", "state", "receipt"])
    .where("key", "like", `%${token}%`)
    .execute();
  const posted = await rig.world.journal.read({ run: token, system: "accounting" });
  const committed = posted.filter(({ kind }) => kind === "committed");
  expect(operations.map(({ state }) => state)).toEqual(operations.map(() => "confirmed"));
  expect(operations.map(({ key }) => key).sort()).toEqual(committed.map(({ key }) => postingKey(key)).sort());
  for (const { key, content } of committed) {
    const { amountMinor, payloadDigest } = content as { amountMinor: number; payloadDigest: string };
    const ours = operations.find((operation) => operation.key === postingKey(key));
    expect(ours?.receipt).toMatchObject({ amountMinor, payloadDigest });
  }
  expect(committed.map(({ key }) => key).sort()).toEqual(
    expected.map((sample) => invoiceKeyOf(token, sample)).sort(),
  );
}

describe.each([
  ["cached", {}],
  ["replayed at every task", { maxCachedWorkflows: 0 }],
])("a batch of eight, %s", (_mode, worker) => {
  test("five are posted while one waits; the result lists all, in the batch's order", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token);
    const { ann } = await reviews.openApi(token);
    const result = await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const started = replay.track(await startBatch(rig.client, taskQueue, batch));
        await untilWaiting(token);
        const others = eight.filter((sample) => sample !== oneApprover);
        await Promise.all(
          others.map((sample) =>
            childOf(token, sample)
              .result()
              .catch(() => undefined),
          ),
        );
        await expectBooksToAgree(token, posting);
        expect((await started.describe()).status.name).toBe("RUNNING");
        expect(await childOf(token, oneApprover).query(invoiceStateQuery)).toBe("in-review");
        const seen = await seeReview(ann, reviewOf(token, oneApprover), AbortSignal.timeout(60_000));
        await decide(ann, seen, "d", "approve");
        return started.result();
      }),
    );
    expect(result.failures).toBe(1);
    expect(result.outcomes.map(({ invoiceKey, outcome }) => [invoiceKey, outcome])).toEqual(
      eight.map((sample) => [
        invoiceKeyOf(token, sample),
        sample === unreadable ? "failed-visibly" : sample === wrongSum ? "rejected" : "posted",
      ]),
    );
    expect(result.outcomes[2]).toMatchObject({ type: "InvalidDocument" });
    await expectBooksToAgree(token, [...posting, oneApprover]);
  });

  /** Starts a batch whose postings all take a while, and goes on when accounting has the first one. */
  async function untilPosting(token: string, taskQueue: string) {
    const batch = await batchOf(token);
    await rig.world.control.tellFault({ kind: "lateCommit", run: token, system: "accounting", ms: 500 });
    const started = replay.track(await startBatch(rig.client, taskQueue, batch));
    await untilWaiting(token);
    await rig.world.journal.until(({ kind, operation }) => kind === "received" && operation === "post", {
      run: token,
      system: "accounting",
      timeoutMs: 60_000,
    });
    return started;
  }

  /** Which invoices say of themselves that they were posted, when all have ended. */
  async function saidToBePosted(token: string) {
    const ends = await Promise.allSettled(eight.map((sample) => childOf(token, sample).result()));
    return eight.filter((_sample, index) => {
      const end = ends[index]!;
      return end.status === "fulfilled" && (end.value as { outcome: string }).outcome === "posted";
    });
  }

  test("terminated in the middle of its postings: each invoice comes to its own end, and the books agree", async () => {
    const token = rig.world.newRun();
    const { ann } = await reviews.openApi(token);
    await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const started = await untilPosting(token, taskQueue);
        await started.terminate();
        const seen = await seeReview(ann, reviewOf(token, oneApprover), AbortSignal.timeout(60_000));
        await decide(ann, seen, "d", "approve");
        expect(await saidToBePosted(token)).toHaveLength(posting.length + 1);
      }),
    );
    await expectBooksToAgree(token, [...posting, oneApprover]);
  });

  test("cancelled in the middle of its postings: each is posted or not, as its result says, and the books agree", async () => {
    const token = rig.world.newRun();
    await rig.withWorker(worker, async (taskQueue) => {
      const started = await untilPosting(token, taskQueue);
      await started.cancel();
      const { outcomes } = await started.result();
      const posted = await saidToBePosted(token);
      // What accounting had been asked for is finished; the invoice that waited for people is not posted.
      expect(posted.length).toBeGreaterThanOrEqual(1);
      expect(posted).not.toContain(oneApprover);
      expect(outcomes.map(({ invoiceKey }) => invoiceKey)).toEqual(
        eight.map((sample) => invoiceKeyOf(token, sample)),
      );
      expect(outcomes.filter(({ outcome }) => outcome === "posted").map((each) => each.invoiceKey)).toEqual(
        posted.map((sample) => invoiceKeyOf(token, sample)),
      );
      await expectBooksToAgree(token, posted);
    });
  });

  test("the same invoices in two batches at once: one posting each, and the other batch names who has it", async () => {
    const token = rig.world.newRun();
    const samples = [office, hosting, cleaning];
    await rig.putDocuments(token, samples);
    const first = approvedBatch(token, patientPolicy, samples);
    const batches = [first, { ...first, batchId: `${token}-other` }];
    const results = await rig.withWorker(worker, async (taskQueue) => {
      const started = await Promise.all(batches.map((batch) => startBatch(rig.client, taskQueue, batch)));
      return Promise.all(started.map((handle) => replay.track(handle).result()));
    });
    for (const [index, sample] of samples.entries()) {
      const invoiceKey = invoiceKeyOf(token, sample);
      const outcomes = results.map((result) => result.outcomes[index]!);
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["duplicate", "posted"]);
      const holder = batches[outcomes.findIndex(({ outcome }) => outcome === "posted")]!;
      const duplicate = outcomes.find(({ outcome }) => outcome === "duplicate") as { duplicateOf: string };
      // By its open workflow, or by its claim in the register when that workflow had ended.
      expect([invoiceWorkflowId(invoiceKey), processingIdOf(holder.batchId, invoiceKey)]).toContain(
        duplicate.duplicateOf,
      );
      expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
    }
    await expectBooksToAgree(token, samples);
  });
});
