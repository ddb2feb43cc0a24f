/**
 * Waits of days and months under the production policy, on a server that skips them. The ledger's clock is set by the
 * server's before each step that asks it: it alone judges deadlines.
 */
import { describe, expect, test, vi } from "vitest";
import type { InvoiceActivities } from "../../../activities/invoice-approval/index.js";
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
  twoApprovers,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import { productionPolicy } from "../../../scenarios/invoice-approval/policy.js";
import { invoiceWorkflowId, postingKey } from "../../../workflows/invoice-approval/keys.js";
import { invoiceStateQuery } from "../../../workflows/invoice-approval/messages.js";
import { invoiceRig } from "../../support/invoice-rig.js";
import { openQuestion, parkedThenAnswered } from "../../support/parked.js";
import { replayAfterEach } from "../../support/replay.js";
import { reviewRig } from "../../support/review-rig.js";
import { skippingTemporal } from "../../support/time-skipping.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const server = skippingTemporal();
const rig = invoiceRig({ temporalAddress: () => server.address });
const reviews = reviewRig(rig);
const replay = replayAfterEach(() => rig.client, workflowBundle);
const office = automaticInvoices[0]!;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const deadlineMs = productionPolicy.workflow.review!.deadlineMs;

/** Each step that asks the ledger for the time finds it at the server's. */
const aligned = (real: InvoiceActivities): Partial<InvoiceActivities> => ({
  openReview: async (request) => {
    await server.align(rig.database.ledger);
    return real.openReview(request);
  },
  resolveReview: async (request) => {
    await server.align(rig.database.ledger);
    return real.resolveReview(request);
  },
  postInvoice: async (request) => {
    await server.align(rig.database.ledger);
    return real.postInvoice(request);
  },
});

async function start(taskQueue: string, token: string, sample: SampleInvoice) {
  await rig.putDocuments(token, [sample]);
  const batch = approvedBatch(token, productionPolicy, [sample]);
  return replay.track(await startBatch(rig.client, taskQueue, batch));
}

const childOf = (token: string, sample: SampleInvoice) =>
  rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKeyOf(token, sample)));

async function untilWaiting(token: string, sample: SampleInvoice) {
  await vi.waitFor(
    async () => {
      const { events } = await childOf(token, sample).fetchHistory();
      expect(events!.at(-1)!.timerStartedEventAttributes).toBeTruthy();
    },
    { timeout: 30_000, interval: 50 },
  );
}

async function historyOf(token: string, sample: SampleInvoice) {
  const { events } = await childOf(token, sample).fetchHistory();
  const scheduled = (activity: string) =>
    events!.filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === activity)
      .length;
  return { events: events!.length, scheduled };
}

const postings = (token: string, sample: SampleInvoice) =>
  rig.world.journal.postingsOf(invoiceKeyOf(token, sample));

describe.each([
  ["cached", {}, 90],
  // Each poll replays all before it; the history of the three months is replayed as a whole after its test.
  ["replayed at every task", { maxCachedWorkflows: 0 }, 30],
])("under the production policy, %s", (_mode, worker, parkedDays) => {
  test("three days without a decision: expired at the deadline, after one wait", async () => {
    const token = rig.world.newRun();
    await rig.withWorker({ ...worker, exchange: aligned }, async (taskQueue) => {
      const before = await server.now();
      const started = await start(taskQueue, token, oneApprover);
      await untilWaiting(token, oneApprover);
      await server.pass(deadlineMs - hourMs);
      expect(await childOf(token, oneApprover).query(invoiceStateQuery)).toBe("in-review");
      await server.pass(hourMs);
      expect((await started.result()).outcomes).toMatchObject([{ outcome: "expired" }]);
      expect((await server.now()) - before).toBeGreaterThanOrEqual(deadlineMs);
    });
    expect((await historyOf(token, oneApprover)).scheduled("resolveReview")).toBe(1);
    expect(await postings(token, oneApprover)).toEqual([]);
  });

  test.each([
    ["an hour before the deadline", deadlineMs - hourMs, "posted", 200],
    ["an hour after the deadline", deadlineMs + hourMs, "expired", 409],
  ] as const)("two approvers, the second one %s", async (_when, secondAfterMs, outcome, status) => {
    const token = rig.world.newRun();
    const { ann, bob } = await reviews.openApi(token);
    await reviews.withRelay(() =>
      rig.withWorker({ ...worker, exchange: aligned }, async (taskQueue) => {
        const started = await start(taskQueue, token, twoApprovers);
        await untilWaiting(token, twoApprovers);
        const seen = await seeReview(ann, reviewOf(token, twoApprovers), AbortSignal.timeout(60_000));
        await server.pass(dayMs);
        await server.align(rig.database.ledger);
        expect((await decide(ann, seen, "ann", "approve")).body).toMatchObject({ answer: "counted" });
        await server.pass(secondAfterMs - dayMs);
        await server.align(rig.database.ledger);
        expect((await decide(bob, seen, "bob", "approve")).status).toBe(status);
        expect((await started.result()).outcomes).toMatchObject([{ outcome }]);
      }),
    );
    expect(await postings(token, twoApprovers)).toHaveLength(outcome === "posted" ? 1 : 0);
  });

  test(`parked for ${parkedDays} days, polled once a day, and posted once when somebody has answered`, async () => {
    const token = rig.world.newRun();
    const invoiceKey = invoiceKeyOf(token, office);
    await rig.loseNextPostingAnswer(token);
    const settings = { ACCOUNTING_HONOURS_KEYS: "no", ACCOUNTING_CAN_FIND: "no" };
    await rig.withWorker({ ...worker, settings, exchange: aligned }, async (taskQueue) => {
      const started = await start(taskQueue, token, office);
      await openQuestion(rig, postingKey(invoiceKey));
      await untilWaiting(token, office);
      await server.pass(parkedDays * dayMs);
      expect(await childOf(token, office).query(invoiceStateQuery)).toBe("parked");
      const { events, scheduled } = await historyOf(token, office);
      // From ten minutes the waits double up to a day: seven polls more than days.
      expect(scheduled("postInvoice")).toBeGreaterThanOrEqual(parkedDays);
      expect(scheduled("postInvoice")).toBeLessThanOrEqual(parkedDays + 15);
      // A year of it stays far below the 51,200 at which Temporal ends a workflow.
      expect(events).toBeLessThan(parkedDays * 20);

      await server.align(rig.database.ledger);
      const receipt = await parkedThenAnswered(rig, invoiceKey, postingKey(invoiceKey));
      await server.pass(dayMs);
      expect((await started.result()).outcomes).toMatchObject([
        { outcome: "posted", entryReference: receipt.entryReference },
      ]);
    });
    expect(await postings(token, office)).toHaveLength(1);
  });
});
