import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { admit } from "../../../adapters/ledger/requests/admit.js";
import { readRequest } from "../../../adapters/ledger/requests/read-request.js";
import {
  invoiceKeyOf,
  startBatch,
  type SampleInvoice,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import {
  approvedBatch,
  approvedInvoices,
  decide,
  oneApprover,
  reviewOf,
  seeReview,
  twoApprovers,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import {
  batchWorkflowId,
  invoiceWorkflowId,
  processingIdOf,
  reviewIdOf,
} from "../../../workflows/invoice-approval/keys.js";
import {
  invoiceStateQuery,
  operationAnswered,
  ticketClosed,
  type InvoiceBatch,
} from "../../../workflows/invoice-approval/messages.js";
import { deadlineAttribute } from "../../../workflows/search-attributes.js";
import { shiftLedgerClock } from "../../support/database.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { reviewRig } from "../../support/review-rig.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const reviews = reviewRig(rig);
const replay = replayAfterEach(() => rig.client, workflowBundle);

/** So long that no timer can be what ended the wait. */
const longMs = 3_600_000;
const patience = () => AbortSignal.timeout(60_000);

async function batchOf(
  token: string,
  samples: readonly SampleInvoice[],
  deadlineMs: number,
): Promise<InvoiceBatch> {
  await rig.putDocuments(token, samples);
  const policy = { ...patientPolicy.workflow, review: { deadlineMs } };
  return approvedBatch(token, { ...patientPolicy, workflow: policy }, samples);
}

async function start(taskQueue: string, batch: InvoiceBatch) {
  return replay.track(await startBatch(rig.client, taskQueue, batch));
}

const childOf = (token: string, sample: SampleInvoice) =>
  rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKeyOf(token, sample)));

async function claimed(token: string, sample: SampleInvoice): Promise<boolean> {
  const { rows } = await sql`
    select 1 from invoice_register where invoice_key = ${invoiceKeyOf(token, sample)}`.execute(
    rig.database.ledger,
  );
  return rows.length > 0;
}

async function timersOf(token: string, sample: SampleInvoice): Promise<number> {
  const { events } = await childOf(token, sample).fetchHistory();
  return (events ?? []).filter((event) => event.timerStartedEventAttributes).length;
}

describe.each([
  ["cached", {}],
  ["replayed at every task", { maxCachedWorkflows: 0 }],
])("a review, %s", (_mode, worker) => {
  test("approved by as many as it needs, the stored content is posted, once, and each reviewer got one mail", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, approvedInvoices, longMs);
    const { ann, bob } = await reviews.openApi(token);
    await rig.database.ledger.transaction().execute((transaction) =>
      admit(transaction, {
        requestId: batch.batchId,
        caller: "submitter",
        idempotencyKey: token,
        kind: "invoice-batch",
        tenant: batch.tenant,
        workflowId: `invoice-batch:${batch.batchId}`,
        body: {},
      }),
    );
    const result = await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const started = await start(taskQueue, batch);
        const single = await seeReview(ann, reviewOf(token, oneApprover), patience());
        const double = await seeReview(ann, reviewOf(token, twoApprovers), patience());
        expect(await childOf(token, oneApprover).query(invoiceStateQuery)).toBe("in-review");
        const { typedSearchAttributes } = await childOf(token, oneApprover).describe();
        expect(typedSearchAttributes.get(deadlineAttribute)).toBeInstanceOf(Date);
        expect((await readRequest(rig.database.ledger, batch.batchId))?.state).toBe("running");

        expect((await decide(ann, single, "d", "approve")).body).toEqual({
          answer: "decided",
          state: "approved",
        });
        const answers = await Promise.all([
          decide(ann, double, "d-ann", "approve"),
          decide(bob, double, "d-bob", "approve"),
        ]);
        expect(answers.map(({ body }) => body["answer"]).sort()).toEqual(["counted", "decided"]);
        return started.result();
      }),
    );
    expect(result.outcomes.map(({ outcome }) => outcome)).toEqual(["posted", "posted", "posted"]);
    for (const outcome of result.outcomes) {
      const postings = await rig.world.journal.postingsOf(outcome.invoiceKey);
      expect(postings.map(({ posting }) => posting)).toMatchObject([
        { payloadDigest: (outcome as { payloadDigest?: string }).payloadDigest },
      ]);
    }
    const keys = reviews.mails.map(({ key }) => key).filter((key) => key.includes(token));
    expect(keys.sort()).toEqual(
      [oneApprover, twoApprovers]
        .flatMap((sample) => [
          `mail:${reviewOf(token, sample)}:ann-${token}@reviewers.example`,
          `mail:${reviewOf(token, sample)}:bob-${token}@reviewers.example`,
        ])
        .sort(),
    );
    const request = await readRequest(rig.database.ledger, batch.batchId);
    expect([request?.state, request?.result]).toEqual(["completed", result]);
  });

  test("rejected by one, nothing is posted, and the number is free for a corrected invoice", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [twoApprovers], longMs);
    const { ann } = await reviews.openApi(token);
    const result = await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const started = await start(taskQueue, batch);
        const seen = await seeReview(ann, reviewOf(token, twoApprovers), patience());
        expect(await claimed(token, twoApprovers)).toBe(true);
        await decide(ann, seen, "d", "reject");
        return started.result();
      }),
    );
    expect(result.outcomes).toMatchObject([{ outcome: "rejected", rejectedBy: "ann" }]);
    expect(await claimed(token, twoApprovers)).toBe(false);
    expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, twoApprovers))).toEqual([]);
  });

  test("past its deadline when it is opened, there is no wait; a decision is answered as expired", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [oneApprover], 1);
    const { ann } = await reviews.openApi(token);
    const result = await rig.withWorker(worker, async (taskQueue) =>
      (await start(taskQueue, batch)).result(),
    );
    expect(result).toMatchObject({
      failures: 0,
      outcomes: [{ outcome: "expired", reviewId: reviewOf(token, oneApprover) }],
    });
    expect(await timersOf(token, oneApprover)).toBe(0);
    const seen = await seeReview(ann, reviewOf(token, oneApprover), patience());
    expect(await decide(ann, seen, "late", "approve")).toMatchObject({
      status: 409,
      body: { type: "urn:problem-type:killproof:ReviewExpired" },
    });
    expect(await claimed(token, oneApprover)).toBe(false);
    expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, oneApprover))).toEqual([]);
  });

  test("decided in time with its hint withheld, it is posted when the timer fires", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [oneApprover], 6_000);
    const { ann } = await reviews.openApi(token);
    // No relay runs, so nobody tells the workflow.
    const result = await rig.withWorker(worker, async (taskQueue) => {
      const started = await start(taskQueue, batch);
      const seen = await seeReview(ann, reviewOf(token, oneApprover), patience());
      expect((await decide(ann, seen, "d", "approve")).body["answer"]).toBe("decided");
      return started.result();
    });
    expect(result.outcomes[0]?.outcome).toBe("posted");
    expect(await timersOf(token, oneApprover)).toBe(1);
  });

  test("with a ledger clock behind Temporal's it waits on, and fails nowhere", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [oneApprover], 500);
    await shiftLedgerClock(rig.database.ledger, -2_000);
    try {
      const result = await rig.withWorker(worker, async (taskQueue) =>
        (await start(taskQueue, batch)).result(),
      );
      expect(result).toMatchObject({ failures: 0, outcomes: [{ outcome: "expired" }] });
      // The first wait by Temporal's clock, if it was any, and what the ledger said was left.
      expect(await timersOf(token, oneApprover)).toBeGreaterThanOrEqual(1);
    } finally {
      await shiftLedgerClock(rig.database.ledger, 0);
    }
  });

  test("hints of another identity, and of our identity too early, decide nothing; strangers are recorded", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [oneApprover], longMs);
    const { ann } = await reviews.openApi(token);
    const result = await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const started = await start(taskQueue, batch);
        const seen = await seeReview(ann, reviewOf(token, oneApprover), patience());
        const child = childOf(token, oneApprover);
        await child.signal(ticketClosed, { ticketId: "review:another:1" });
        await child.signal(ticketClosed, { ticketId: "review:another:1" });
        await child.signal(ticketClosed.name, { ticketId: "\u0000", more: [1] });
        await child.signal(ticketClosed.name);
        await child.signal(operationAnswered, { operationKey: "invoice:another:post" });
        await child.signal(ticketClosed, { ticketId: seen.reviewId });
        expect(await child.query(invoiceStateQuery)).toBe("in-review");
        await decide(ann, seen, "d", "approve");
        return started.result();
      }),
    );
    expect(result.outcomes[0]?.outcome).toBe("posted");
    const { rows } = await sql<{ heard: string; state: string }>`
      select concat(body->>'signal', ' ', body->>'content') as heard, state from inbox
      where source = 'workflow-hint' and subject = ${`${batch.batchId}:${invoiceKeyOf(token, oneApprover)}`}`.execute(
      rig.database.ledger,
    );
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["ignored"]));
    expect(rows.map(({ heard }) => heard).sort()).toEqual([
      'operationAnswered {"operationKey":"invoice:another:post"}',
      "ticketClosed nothing",
      'ticketClosed {"ticketId":"\\u0000","more":[1]}',
      'ticketClosed {"ticketId":"review:another:1"}',
    ]);
  });

  test("handed in and decided over the API, started and woken by the relay, it is posted and its request ends", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [oneApprover], longMs);
    const request = await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const { ann, submitter } = await reviews.openApi(token, taskQueue);
        const admitted = await fetch(`${submitter.baseUrl}/api/invoice-batches`, {
          method: "POST",
          headers: {
            Authorization: `Bearer ${submitter.apiKey}`,
            "Content-Type": "application/json",
            "Idempotency-Key": token,
          },
          body: JSON.stringify({ invoices: batch.invoices }),
        });
        expect(admitted.status).toBe(202);
        const { batchId } = (await admitted.json()) as { batchId: string };
        const reviewId = reviewIdOf(processingIdOf(batchId, invoiceKeyOf(token, oneApprover)), 1);
        const seen = await seeReview(ann, reviewId, patience());
        // Who handed it in may not decide on it, though a reviewer.
        expect((await decide(submitter, seen, "own", "approve")).status).toBe(403);
        expect((await decide(ann, seen, "d", "approve")).status).toBe(200);
        const handle = replay.track(rig.client.workflow.getHandle(batchWorkflowId(batchId)));
        await handle.result();
        const shown = await fetch(`${submitter.baseUrl}/api/invoice-batches/${batchId}`, {
          headers: { Authorization: `Bearer ${submitter.apiKey}` },
        });
        return (await shown.json()) as object;
      }),
    );
    expect(request).toMatchObject({
      state: "completed",
      result: {
        failures: 0,
        outcomes: [{ outcome: "posted", invoiceKey: invoiceKeyOf(token, oneApprover) }],
      },
    });
    expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, oneApprover))).toHaveLength(1);
  });
});
