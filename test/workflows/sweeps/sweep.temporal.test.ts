/** What a terminated batch and a terminated invoice leave, and what the sweep and a person's answer make of it. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";
import { ensureSweepSchedule, sweepScheduleId } from "../../../adapters/temporal/sweep-schedule.js";
import { opsAnswer, opsList } from "../../../cli/ops/ops.js";
import type { OpsEntry } from "../../../cli/ops/entries.js";
import { readRequest } from "../../../adapters/ledger/requests/read-request.js";
import { countOpen } from "../../../adapters/ledger/requests/count-open.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import { sweepPolicies } from "../../../services/migrate/sweep-policies.js";
import { batchWorkflowId, invoiceWorkflowId, postingKey } from "../../../workflows/invoice-approval/keys.js";
import { sweep } from "../../../workflows/sweeps/sweep.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { reviewRig } from "../../support/review-rig.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const reviews = reviewRig(rig);
const replay = replayAfterEach(() => rig.client, workflowBundle);
const office = automaticInvoices[0]!;
const hosting = automaticInvoices[1]!;

/** Nothing is too fresh to be looked at, and pages are so small that there are several. */
const atOnce = { ...sweepPolicies.demo, graceMs: 0, pageSize: 1 };

function deferred() {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

async function swept(taskQueue: string) {
  const workflowId = `sweep-${randomUUID()}`;
  return replay
    .track(await rig.client.workflow.start(sweep, { taskQueue, workflowId, args: [atOnce] }))
    .result();
}

async function ops(command: "list"): Promise<readonly OpsEntry[]>;
async function ops(command: object): Promise<{ code: number; [field: string]: unknown }>;
async function ops(command: object | "list") {
  let written = "";
  const context = {
    environment: { LEDGER_URL: rig.database.url, OPS_WAITING_MS: "0" },
    stdout: { write: (text: string) => (written += text) },
    json: true,
  };
  const code =
    command === "list"
      ? await opsList(context)
      : await opsAnswer({ ...context, ...(command as Parameters<typeof opsAnswer>[0]) });
  const read = JSON.parse(written) as object;
  return command === "list" ? read : { code, ...read };
}

/** Hands two invoices in over the API; both wait at the step until `open` is called. */
async function handIn(token: string, taskQueue: string): Promise<string> {
  const { invoices } = automaticBatch(token, patientPolicy, [office, hosting]);
  const { submitter } = await reviews.openApi(token, taskQueue);
  const admitted = await fetch(`${submitter.baseUrl}/api/invoice-batches`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${submitter.apiKey}`,
      "Content-Type": "application/json",
      "Idempotency-Key": token,
    },
    body: JSON.stringify({ invoices }),
  });
  expect(admitted.status).toBe(202);
  return ((await admitted.json()) as { batchId: string }).batchId;
}

function openBatches(tenant: string): Promise<number> {
  return rig.database.ledger
    .transaction()
    .execute((transaction) => countOpen(transaction, { kind: "invoice-batch", tenant }));
}

/** The postings of a run that the ledger knows as done. */
function confirmed(token: string) {
  return sql<{ key: string }>`
    select key from operations where key like ${`invoice:${token}-%`} and state = 'confirmed'`.execute(
    rig.database.ledger,
  );
}

/** A batch of one, started without the API. */
async function startOnly(token: string, taskQueue: string) {
  const batch = automaticBatch(token, patientPolicy, [office]);
  return replay.track(await startBatch(rig.client, taskQueue, batch));
}

describe("the sweep", () => {
  test("a terminated batch gives its place back once its invoices have ended, and its result says how", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [office, hosting]);
    const [posted, terminated] = [invoiceKeyOf(token, office), invoiceKeyOf(token, hosting)];
    const gate = deferred();
    const inside = { [posted]: deferred(), [terminated]: deferred() };
    await reviews.withRelay(() =>
      rig.withWorker(
        {
          exchange: ({ validateInvoice }) => ({
            validateInvoice: async (request) => {
              inside[request.invoice.invoiceKey]!.resolve();
              await gate.promise;
              return validateInvoice(request);
            },
          }),
        },
        async (taskQueue) => {
          const batchId = await handIn(token, taskQueue);
          await Promise.all(Object.values(inside).map(({ promise }) => promise));
          const batch = replay.track(rig.client.workflow.getHandle(batchWorkflowId(batchId)));
          await batch.terminate("by a test");
          await rig.client.workflow.getHandle(invoiceWorkflowId(terminated)).terminate("by a test");

          // One invoice goes on, so the batch's place stays taken.
          expect((await swept(taskQueue)).requestsEnded).toBe(0);
          expect(await openBatches(`${token}-tenant`)).toBe(1);

          gate.resolve();
          await rig.client.workflow.getHandle(invoiceWorkflowId(posted)).result();
          expect((await swept(taskQueue)).requestsEnded).toBe(1);
          expect((await swept(taskQueue)).requestsEnded).toBe(0);
          expect(await openBatches(`${token}-tenant`)).toBe(0);
          expect(await readRequest(rig.database.ledger, batchId)).toMatchObject({
            state: "failed",
            result: {
              batchEnd: "TERMINATED",
              failures: 1,
              outcomes: [
                { outcome: "posted", invoiceKey: posted },
                { outcome: "failed-visibly", invoiceKey: terminated, type: "Terminated" },
              ],
            },
          });
        },
      ),
    );
    expect(await rig.world.journal.postingsOf(posted)).toHaveLength(1);
    expect(await rig.world.journal.postingsOf(terminated)).toEqual([]);
    const { rows } = await confirmed(token);
    expect(rows).toEqual([{ key: postingKey(posted) }]);
  });

  test("an open posting of a terminated invoice becomes a question; started again by its answer, it is posted once", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [office]);
    const invoiceKey = invoiceKeyOf(token, office);
    const fault = await rig.world.control.tellFault({
      kind: "dropAnswer",
      run: token,
      system: "accounting",
      operation: "post",
    });
    const stopped = deferred();
    const posted = deferred();
    let calls = 0;
    await reviews.withRelay(() =>
      rig.withWorker(
        {
          // Its answers are lost, and the attempt ends only when its process has been terminated.
          exchange: ({ postInvoice }) => ({
            postInvoice: async (request) => {
              if (request.invoice.invoiceKey !== invoiceKey || (calls += 1) > 1) return postInvoice(request);
              await postInvoice(request).catch(() => undefined);
              posted.resolve();
              await stopped.promise;
              throw new Error("the process has ended");
            },
          }),
        },
        async (taskQueue) => {
          await startOnly(token, taskQueue);
          await posted.promise;
          const first = rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKey));
          const { runId } = await first.describe();
          await first.terminate("by a test");
          stopped.resolve();
          await rig.world.control.removeFault(fault.id);

          expect((await swept(taskQueue)).processesReported).toBe(1);
          expect((await swept(taskQueue)).processesReported).toBe(0);
          const question = (await ops("list")).find(({ subject }) => subject === `invoice:${invoiceKey}`)!;
          expect(question).toMatchObject({
            kind: "invoice",
            reason: "process-ended",
            answers: ["redrive"],
            evidence: {
              status: "TERMINATED",
              operationState: expect.stringMatching(/^(submitting|unknown)$/),
            },
          });
          const answer = { question: question.id, redrive: true, by: "ann", id: `${token}-a` };
          const told = await ops(answer);
          expect(told).toMatchObject({ code: 0, result: "answered" });
          expect(await ops(answer)).toEqual(told);
          expect(await ops({ ...answer, id: "another" })).toMatchObject({ code: 1, by: "ann" });
          const again = rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKey));
          await vi.waitFor(async () => expect((await again.describe()).runId).not.toBe(runId), {
            timeout: 30_000,
            interval: 50,
          });
          expect(await replay.track(again).result()).toMatchObject({ outcome: "posted" });
          // The batch has had its invoice's first end.
          await rig.client.workflow.getHandle(batchWorkflowId(`${token}-batch`)).result();
        },
      ),
    );
    expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
  });

  test("the schedule is made once, changed in place, and starts sweeps", async () => {
    await rig.withWorker({}, async (taskQueue) => {
      const { intervalMs, workflowTaskTimeoutMs } = atOnce;
      const schedule = { taskQueue, intervalMs: 3_600_000, workflowTaskTimeoutMs, policy: atOnce };
      expect(await ensureSweepSchedule(rig.client, schedule)).toBe("created");
      const handle = rig.client.schedule.getHandle(sweepScheduleId(taskQueue));
      try {
        await handle.pause("by a test");
        expect(await ensureSweepSchedule(rig.client, { ...schedule, intervalMs })).toBe("updated");
        const described = await handle.describe();
        expect(described.spec.intervals).toMatchObject([{ every: intervalMs }]);
        expect(described.state.paused).toBe(true);
        expect(described.policies).toMatchObject({ overlap: "SKIP", catchupWindow: 10_000 });
        await handle.trigger();
        const workflowId = await vi.waitFor(
          async () => {
            const [started] = (await handle.describe()).info.recentActions;
            expect(started).toBeDefined();
            return started!.action.workflow.workflowId;
          },
          { timeout: 30_000, interval: 50 },
        );
        const result = await replay.track(rig.client.workflow.getHandle(workflowId)).result();
        expect(result).toMatchObject({ requestsEnded: 0 });
      } finally {
        await handle.delete();
      }
    });
  });
});
