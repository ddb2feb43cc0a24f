import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import {
  automaticBatch,
  automaticInvoices,
  invoiceKeyOf,
  startBatch,
  type SampleInvoice,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import { postingKey } from "../../../workflows/invoice-approval/keys.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const replay = replayAfterEach(() => rig.client, workflowBundle);

const office = automaticInvoices[0]!;
const hosting = automaticInvoices[1]!;
const needsReview: SampleInvoice = {
  name: "review",
  file: "needs-review.ubl.xml",
  mediaType: "application/xml",
  expected: "posted",
};

async function runBatch(
  taskQueue: string,
  token: string,
  samples: readonly SampleInvoice[] = automaticInvoices,
  policy = patientPolicy,
) {
  const batch = automaticBatch(token, policy, samples);
  return replay.track(await startBatch(rig.client, taskQueue, batch)).result();
}

async function recoveryRows(subject: string) {
  const { rows } = await sql<{ reason: string }>`
    select reason from recovery_queue where subject = ${subject} and answered_at is null`.execute(
    rig.database.ledger,
  );
  return rows.map(({ reason }) => reason);
}

async function claims(invoiceKey: string) {
  const { rows } = await sql<{ processing_id: string }>`
    select processing_id from invoice_register where invoice_key = ${invoiceKey}`.execute(
    rig.database.ledger,
  );
  return rows.map((row) => row.processing_id);
}

describe.each([
  ["cached", {}],
  ["replayed at every task", { maxCachedWorkflows: 0 }],
])("a batch, %s", (_mode, worker) => {
  test("posts what is valid once, with the assessed content, and rejects the rest, each for its reason", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token);
    const result = await rig.withWorker(worker, (taskQueue) => runBatch(taskQueue, token));

    expect(result.failures).toBe(0);
    expect(result.outcomes.map(({ outcome }) => outcome)).toEqual(
      automaticInvoices.map(({ expected }) => expected),
    );
    const posted = result.outcomes.filter((outcome) => outcome.outcome === "posted");
    for (const { invoiceKey, amountMinor, currency, payloadDigest } of posted) {
      const postings = await rig.world.journal.postingsOf(invoiceKey);
      expect(postings).toHaveLength(1);
      expect(postings[0]!.posting).toMatchObject({ amountMinor, currency, payloadDigest, revision: 1 });
      expect(postings[0]!.entry.idempotencyKey).toBe(postingKey(invoiceKey));
    }
    const others = result.outcomes.filter(({ outcome }) => outcome !== "posted");
    for (const { invoiceKey } of others) {
      expect(await rig.world.journal.postingsOf(invoiceKey)).toEqual([]);
      expect(await claims(invoiceKey)).toEqual([]);
    }
  });

  test("posts once when accounting's answer is lost after its commit", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [office]);
    await rig.loseNextPostingAnswer(token);
    const result = await rig.withWorker(worker, (taskQueue) => runBatch(taskQueue, token, [office]));
    expect(result.outcomes[0]!.outcome).toBe("posted");
    expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, office))).toHaveLength(1);
    expect((await rig.world.control.faults(token))[0]).toMatchObject({ fired: 1 });
  });

  test("reads the document again after the store was away", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [office]);
    await rig.world.control.tellFault({ kind: "unavailable", run: token, system: "documents", times: 3 });
    const result = await rig.withWorker(worker, (taskQueue) => runBatch(taskQueue, token, [office]));
    expect(result.outcomes[0]!.outcome).toBe("posted");
  });

  test("where nobody reviews, an invoice that needs it fails visibly, frees its number, and holds up nobody", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [needsReview, office]);
    const { review: _nobody, ...workflow } = patientPolicy.workflow;
    const result = await rig.withWorker(worker, (taskQueue) =>
      runBatch(taskQueue, token, [needsReview, office], { ...patientPolicy, workflow }),
    );
    const invoiceKey = invoiceKeyOf(token, needsReview);
    expect(result).toMatchObject({
      failures: 1,
      outcomes: [
        { outcome: "failed-visibly", invoiceKey, type: "ReviewNotAvailable" },
        { outcome: "posted", invoiceKey: invoiceKeyOf(token, office) },
      ],
    });
    expect(await recoveryRows(`invoice:${invoiceKey}`)).toEqual(["ReviewNotAvailable"]);
    expect(await claims(invoiceKey)).toEqual([]);
    expect(await rig.world.journal.postingsOf(invoiceKey)).toEqual([]);
  });

  test("an assessment nobody knows is nobody's approval", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [office]);
    const result = await rig.withWorker(
      {
        ...worker,
        exchange: ({ validateInvoice }) => ({
          validateInvoice: async (request) => ({
            ...(await validateInvoice(request)),
            check: "probably-fine" as never,
          }),
        }),
      },
      (taskQueue) => runBatch(taskQueue, token, [office]),
    );
    const invoiceKey = invoiceKeyOf(token, office);
    expect(result.outcomes).toEqual([
      {
        outcome: "failed-visibly",
        invoiceKey,
        type: "UnrecognisedResult",
        message: expect.stringContaining('"probably-fine"'),
      },
    ]);
    expect(await recoveryRows(`invoice:${invoiceKey}`)).toEqual(["UnrecognisedResult"]);
    expect(await rig.world.journal.postingsOf(invoiceKey)).toEqual([]);
  });

  test("content that isn't what was assessed is not posted", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [office, hosting]);
    const digests: string[] = [];
    const result = await rig.withWorker(
      {
        ...worker,
        exchange: ({ validateInvoice }) => ({
          validateInvoice: async (request) => {
            const assessment = await validateInvoice(request);
            digests.push(assessment.payloadDigest);
            return { ...assessment, amountMinor: assessment.amountMinor + 1 };
          },
        }),
      },
      (taskQueue) => runBatch(taskQueue, token, [office]),
    );
    expect(digests).toHaveLength(1);
    expect(result.outcomes[0]).toMatchObject({ outcome: "failed-visibly", type: "PayloadMismatch" });
    expect(await rig.world.journal.postingsOf(invoiceKeyOf(token, office))).toEqual([]);
  });

  test("a document that is no invoice, and one that isn't there, fail visibly under their names", async () => {
    const token = rig.world.newRun();
    const hostile: SampleInvoice = { ...office, name: "hostile", file: "document-type.xml" };
    const absent: SampleInvoice = { ...office, name: "absent", file: "absent.xml" };
    await rig.putDocuments(token, [hostile]);
    const result = await rig.withWorker(worker, (taskQueue) => runBatch(taskQueue, token, [hostile, absent]));
    expect(result.outcomes).toMatchObject([
      { outcome: "failed-visibly", type: "InvalidDocument" },
      { outcome: "failed-visibly", type: "UnknownDocument" },
    ]);
    expect(await recoveryRows(`invoice:${invoiceKeyOf(token, hostile)}`)).toEqual(["InvalidDocument"]);
  });

  test("the saved extraction is used again: the document may be gone by then", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [office]);
    let readings = 0;
    const result = await rig.withWorker(
      {
        ...worker,
        exchange: ({ extractInvoice }) => ({
          extractInvoice: async (invoice) => {
            const extraction = await extractInvoice(invoice);
            readings += 1;
            // The first attempt dies after its effect; what it saved is what counts.
            if (readings === 1) throw new Error("lost after the effect");
            return extraction;
          },
        }),
      },
      (taskQueue) => runBatch(taskQueue, token, [office]),
    );
    expect(readings).toBe(2);
    expect(result.outcomes[0]!.outcome).toBe("posted");
    const fetches = await rig.world.journal.read({ run: token, system: "documents" });
    expect(
      fetches.filter(({ operation, kind }) => operation === "fetch" && kind === "received"),
    ).toHaveLength(1);
  });
});
