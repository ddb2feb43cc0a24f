import { WorkflowFailedError } from "@temporalio/client";
import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";
import { createOperationJournal } from "../../../adapters/ledger/operations/journal.js";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  type SampleInvoice,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import { invoiceWorkflowId, postingKey, processingIdOf } from "../../../workflows/invoice-approval/keys.js";
import {
  invoiceStateQuery,
  operationAnswered,
  type InvoiceBatch,
} from "../../../workflows/invoice-approval/messages.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const replay = replayAfterEach(() => rig.client, workflowBundle);
const office = automaticInvoices[0]!;
const hosting = automaticInvoices[1]!;
const otherWithSameNumber: SampleInvoice = { ...office, name: "again", file: "duplicate-number.ubl.xml" };

async function run(taskQueue: string, batch: InvoiceBatch) {
  return replay.track(await startBatch(rig.client, taskQueue, batch)).result();
}

async function batchOf(token: string, samples: readonly SampleInvoice[], more: Partial<InvoiceBatch> = {}) {
  await rig.putDocuments(token, samples);
  return { ...automaticBatch(token, patientPolicy, samples), ...more };
}

async function recoveryIdOf(operationKey: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select id from recovery_queue where subject = ${operationKey} and answered_at is null`.execute(
    rig.database.ledger,
  );
  return rows[0]!.id;
}

function deferred() {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

async function untilCancelRequested(workflowId: string): Promise<void> {
  const handle = rig.client.workflow.getHandle(workflowId);
  await vi.waitFor(
    async () => {
      const { events } = await handle.fetchHistory();
      expect(events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes)).toBe(true);
    },
    { timeout: 30_000, interval: 50 },
  );
}

async function untilState(invoiceKey: string, state: string) {
  const handle = rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKey));
  await vi.waitFor(async () => expect(await handle.query(invoiceStateQuery)).toBe(state), {
    timeout: 30_000,
    interval: 50,
  });
  return handle;
}

describe.each([
  ["cached", {}],
  ["replayed at every task", { maxCachedWorkflows: 0 }],
])("how invoices end, %s", (_mode, worker) => {
  test.each([
    ["none", 0, (batch: InvoiceBatch) => batch, "invoices has 0 entries; allowed: 1 to 8"],
    [
      "nine",
      9,
      (batch: InvoiceBatch) => ({
        ...batch,
        invoices: [...batch.invoices, { ...batch.invoices[0]!, invoiceKey: "ninth" }],
      }),
      "invoices has 9 entries; allowed: 1 to 8",
    ],
    [
      "one of them twice",
      2,
      (batch: InvoiceBatch) => ({ ...batch, invoices: [batch.invoices[0]!, batch.invoices[0]!] }),
      "-office more than once",
    ],
    [
      "a key that keys can't carry",
      1,
      (batch: InvoiceBatch) => ({ ...batch, invoices: [{ ...batch.invoices[0]!, invoiceKey: "a:b" }] }),
      'invoiceKey is "a:b"',
    ],
    [
      "a revision that isn't one",
      1,
      (batch: InvoiceBatch) => ({ ...batch, invoices: [{ ...batch.invoices[0]!, revision: 0 }] }),
      "revision is 0",
    ],
  ])("a batch with %s is refused as a whole", async (_what, count, change, message) => {
    const token = rig.world.newRun();
    const batch = change(
      automaticBatch(token, patientPolicy, automaticInvoices.slice(0, Math.min(count, 8))),
    );
    await rig.withWorker(worker, async (taskQueue) => {
      const failure = await run(taskQueue, batch).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(WorkflowFailedError);
      expect((failure as WorkflowFailedError).cause).toMatchObject({
        type: "InvalidRequest",
        message: expect.stringContaining(message),
      });
    });
    expect(await rig.world.journal.read({ run: token })).toEqual([]);
  });

  test("another invoice under a number that is posted is a duplicate of the one that has it", async () => {
    const token = rig.world.newRun();
    const first = await batchOf(token, [office]);
    const second = await batchOf(token, [otherWithSameNumber], { batchId: `${token}-second` });
    await rig.withWorker(worker, async (taskQueue) => {
      await run(taskQueue, first);
      expect((await run(taskQueue, second)).outcomes).toEqual([
        {
          outcome: "duplicate",
          invoiceKey: invoiceKeyOf(token, otherWithSameNumber),
          duplicateOf: processingIdOf(first.batchId, invoiceKeyOf(token, office)),
        },
      ]);
    });
    expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, otherWithSameNumber))).toEqual([]);
  });

  test("two invoices with one number in one batch: exactly one is posted", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [office, otherWithSameNumber]);
    const result = await rig.withWorker(worker, (taskQueue) => run(taskQueue, batch));
    expect(result.outcomes.map(({ outcome }) => outcome).sort()).toEqual(["duplicate", "posted"]);
  });

  test("an invoice that was posted in another batch isn't processed to a second posting", async () => {
    const token = rig.world.newRun();
    const first = await batchOf(token, [office]);
    await rig.withWorker(worker, async (taskQueue) => {
      await run(taskQueue, first);
      const again = await run(taskQueue, { ...first, batchId: `${token}-again` });
      expect(again.outcomes[0]).toMatchObject({
        outcome: "duplicate",
        duplicateOf: processingIdOf(first.batchId, invoiceKeyOf(token, office)),
      });
    });
    expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, office))).toHaveLength(1);
  });

  test("an invoice that is open in another batch is a duplicate of that open process", async () => {
    const token = rig.world.newRun();
    const first = await batchOf(token, [office]);
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let entered!: () => void;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    await rig.withWorker(
      {
        ...worker,
        exchange: ({ extractInvoice }) => ({
          extractInvoice: async (invoice) => {
            entered();
            await gate;
            return extractInvoice(invoice);
          },
        }),
      },
      async (taskQueue) => {
        const started = replay.track(await startBatch(rig.client, taskQueue, first));
        await inside;
        const second = await run(taskQueue, { ...first, batchId: `${token}-second` });
        expect(second.outcomes[0]).toMatchObject({
          outcome: "duplicate",
          duplicateOf: invoiceWorkflowId(invoiceKeyOf(token, office)),
        });
        open();
        expect((await started.result()).outcomes[0]!.outcome).toBe("posted");
      },
    );
  });

  test("after a refusal a corrected revision is posted, under a key of its own try", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [office]);
    const invoiceKey = invoiceKeyOf(token, office);
    const fault = await rig.world.control.tellFault({
      kind: "refuse",
      run: token,
      system: "accounting",
      operation: "post",
      code: "supplier-blocked",
    });
    await rig.withWorker(worker, async (taskQueue) => {
      const refused = await run(taskQueue, batch);
      expect(refused.outcomes[0]).toMatchObject({ outcome: "failed-visibly", type: "OperationRefused" });
      await rig.world.control.removeFault(fault.id);
      const corrected = await run(taskQueue, {
        ...batch,
        batchId: `${token}-corrected`,
        invoices: [{ ...batch.invoices[0]!, revision: 2 }],
      });
      expect(corrected.outcomes[0]).toMatchObject({ outcome: "posted", revision: 2 });
    });
    const postings = await rig.world.journal.postingsOf(invoiceKey);
    expect(postings.map(({ entry, posting }) => [entry.idempotencyKey, posting.revision])).toEqual([
      [`${postingKey(invoiceKey)}/try-2`, 2],
    ]);
  });

  test.each([
    ["by the hint", true],
    ["by the poll when the hint got lost", false],
  ])("a posting that can't be known parks, and goes on %s after a person's answer", async (_how, hinted) => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [office, hosting]);
    const [parkedInvoice, sibling] = [invoiceKeyOf(token, office), invoiceKeyOf(token, hosting)];
    await rig.loseNextPostingAnswer(token);
    const settings = { ACCOUNTING_HONOURS_KEYS: "no", ACCOUNTING_CAN_FIND: "no" };
    const policy = hinted
      ? {
          ...batch.policy,
          // So long that only the hint can be what ends the wait.
          parked: { pollInitialMs: 3_600_000, pollMaximumMs: 3_600_000 },
        }
      : batch.policy;
    await rig.withWorker({ ...worker, settings }, async (taskQueue) => {
      const started = replay.track(await startBatch(rig.client, taskQueue, { ...batch, policy }));
      const states = async () => {
        const keys = [parkedInvoice, sibling];
        const handles = keys.map((key) => rig.client.workflow.getHandle(invoiceWorkflowId(key)));
        return Promise.all(handles.map((handle) => handle.query(invoiceStateQuery).catch(() => "not yet")));
      };
      // Whichever was first at accounting lost its answer; the other one isn't held up by it.
      await vi.waitFor(async () => expect((await states()).sort()).toEqual(["parked", "posted"]), {
        timeout: 30_000,
        interval: 50,
      });
      const invoiceKey = (await states())[0] === "parked" ? parkedInvoice : sibling;
      const handle = await untilState(invoiceKey, "parked");
      await handle.signal(operationAnswered, { operationKey: "invoice:another:post" });

      // What a person does: look into accounting's own books.
      const [posted] = await rig.world.journal.postingsOf(invoiceKey);
      const looked = await rig.accounting().find!(posted!.posting, { signal: new AbortController().signal });
      if (looked.found !== "present") throw new Error(`accounting shows ${looked.found}`);
      const { receipt } = looked;
      const answered = await createOperationJournal(rig.database.ledger).answer({
        recoveryId: await recoveryIdOf(postingKey(invoiceKey)),
        answerId: `${token}-answer`,
        by: "test",
        answer: { answer: "adopt", receipt },
      });
      expect(answered).toMatchObject({ result: "answered", state: "confirmed" });
      if (hinted) await handle.signal(operationAnswered, { operationKey: postingKey(invoiceKey) });

      const result = await started.result();
      expect(result.failures).toBe(0);
      expect(result.outcomes.find((outcome) => outcome.invoiceKey === invoiceKey)).toMatchObject({
        outcome: "posted",
        entryReference: receipt.entryReference,
      });
      expect(await rig.world.journal.postingsOf(invoiceKey)).toHaveLength(1);
    });
  });

  test("cancelling a batch stops what accounting wasn't asked for, and its result says what each invoice did", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [office, hosting]);
    const [atPosting, before] = [invoiceKeyOf(token, office), invoiceKeyOf(token, hosting)];
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const inside = { [atPosting]: deferred(), [before]: deferred() };
    await rig.withWorker(
      {
        ...worker,
        exchange: ({ validateInvoice, postInvoice }) => ({
          validateInvoice: async (request) => {
            if (request.invoice.invoiceKey === before) {
              inside[before]!.resolve();
              await gate;
            }
            return validateInvoice(request);
          },
          postInvoice: async (request) => {
            const receipt = await postInvoice(request);
            inside[atPosting]!.resolve();
            await gate;
            return receipt;
          },
        }),
      },
      async (taskQueue) => {
        const started = replay.track(await startBatch(rig.client, taskQueue, batch));
        await Promise.all(Object.values(inside).map(({ promise }) => promise));
        await started.cancel();
        // The activities end only after the cancellation has come to the invoices.
        for (const key of [atPosting, before]) await untilCancelRequested(invoiceWorkflowId(key));
        open();
        const result = await started.result();
        expect(result).toMatchObject({
          failures: 1,
          outcomes: [
            { outcome: "posted", invoiceKey: atPosting },
            { outcome: "failed-visibly", invoiceKey: before, type: "Cancelled" },
          ],
        });
      },
    );
    expect(await rig.world.journal.postingsOf(atPosting)).toHaveLength(1);
    expect(await rig.world.journal.postingsOf(before)).toEqual([]);
  });

  test("cancelling an invoice before it posts leaves a row for a person and frees its number", async () => {
    const token = rig.world.newRun();
    const batch = await batchOf(token, [office, hosting]);
    const invoiceKey = invoiceKeyOf(token, office);
    await rig.withWorker(
      {
        ...worker,
        exchange: ({ validateInvoice }) => ({
          validateInvoice: async (request) => {
            if (request.invoice.invoiceKey === invoiceKey) {
              await rig.client.workflow.getHandle(invoiceWorkflowId(invoiceKey)).cancel();
            }
            return validateInvoice(request);
          },
        }),
      },
      async (taskQueue) => {
        const result = await run(taskQueue, batch);
        expect(result.outcomes).toMatchObject([
          { outcome: "failed-visibly", invoiceKey, type: "Cancelled" },
          { outcome: "posted", invoiceKey: invoiceKeyOf(token, hosting) },
        ]);
      },
    );
    expect(await rig.world.journal.postingsOf(invoiceKey)).toEqual([]);
  });
});
