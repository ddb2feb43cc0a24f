/**
 * The document store isn't ours, and what it holds may change under an id. What is posted is what was assessed and
 * approved: the content as it was stored, whatever the file says by then.
 */
import { describe, expect, test } from "vitest";
import { createPayloadStore } from "../../../adapters/ledger/payloads/payload-store.js";
import {
  documentIdOf,
  invoiceKeyOf,
  startBatch,
} from "../../../scenarios/invoice-approval/stories/automatic.js";
import {
  approvedBatch,
  decide,
  oneApprover,
  reviewOf,
  seeReview,
} from "../../../scenarios/invoice-approval/stories/approved.js";
import { invoiceWorkflowId } from "../../../workflows/invoice-approval/keys.js";
import { invoiceRig, patientPolicy } from "../../support/invoice-rig.js";
import { replayAfterEach } from "../../support/replay.js";
import { resetBefore, schedules } from "../../support/reset.js";
import { reviewRig } from "../../support/review-rig.js";
import { sampleText } from "../../support/samples.js";
import { workflowBundle } from "../../support/workflow-bundle.js";

const rig = invoiceRig();
const reviews = reviewRig(rig);
const replay = replayAfterEach(() => rig.client, workflowBundle);
const original = await sampleText(oneApprover.file);

/** The original's gross total, and that of the files it is exchanged for. */
const grossMinor = 1_342_32;

/** Right in itself, for another number of desks: it would be assessed and approved too. */
function otherDocument(net: string, tax: string, gross: string, line: string, quantity: number): Uint8Array {
  const text = original
    .replaceAll("1128.00", net)
    .replaceAll("214.32", tax)
    .replaceAll("1342.32", gross)
    .replace("978.00", line)
    .replace(/(<cbc:InvoicedQuantity unitCode="C62">)2/, `$1${quantity}`);
  return new TextEncoder().encode(text);
}

const threeDesks = otherDocument("1617.00", "307.23", "1924.23", "1467.00", 3);
const fourDesks = otherDocument("2106.00", "400.14", "2506.14", "1956.00", 4);

describe.each([
  ["cached", {}],
  ["replayed at every task", { maxCachedWorkflows: 0 }],
])("a document that changes, %s", (_mode, worker) => {
  test("in review, between approval and posting, and before a reset: the approved content is posted, once", async () => {
    const token = rig.world.newRun();
    await rig.putDocuments(token, [oneApprover]);
    const documentId = documentIdOf(token, oneApprover);
    const invoiceKey = invoiceKeyOf(token, oneApprover);
    const change = (bytes: Uint8Array) =>
      rig.world.control.putDocument(documentId, oneApprover.mediaType, bytes);
    const { ann } = await reviews.openApi(token);
    let postings = 0;
    const exchange: NonNullable<Parameters<typeof rig.withWorker>[0]["exchange"]> = ({ postInvoice }) => ({
      postInvoice: async (request) => {
        postings += 1;
        await change(fourDesks); // ← approved by now, and not posted yet
        return postInvoice(request);
      },
    });
    await reviews.withRelay(() =>
      rig.withWorker({ ...worker, exchange }, async (taskQueue) => {
        const batch = approvedBatch(token, patientPolicy, [oneApprover]);
        const started = replay.track(await startBatch(rig.client, taskQueue, batch));
        const seen = await seeReview(ann, reviewOf(token, oneApprover), AbortSignal.timeout(60_000));
        await change(threeDesks);
        await decide(ann, seen, "d", "approve");
        const { outcomes } = await started.result();
        expect(outcomes[0]).toMatchObject({ outcome: "posted", amountMinor: grossMinor });

        const again = await resetBefore(
          rig.client,
          invoiceWorkflowId(invoiceKey),
          schedules("extractInvoice"),
        );
        expect(await replay.track(again).result()).toEqual(outcomes[0]);
      }),
    );
    expect(postings).toBe(2);
    const [posted, ...others] = await rig.world.journal.postingsOf(invoiceKey);
    expect(others).toEqual([]);
    expect(posted!.posting.amountMinor).toBe(grossMinor);
    const stored = await createPayloadStore(rig.database.ledger).get(posted!.posting.payloadDigest);
    expect(stored).toMatchObject({ totals: { grossMinor } });
    const documents = await rig.world.journal.read({ run: token, system: "documents" });
    const count = (operation: string, kind: string) =>
      documents.filter((entry) => entry.operation === operation && entry.kind === kind).length;
    expect(count("fetch", "received"), "read once, before any change").toBe(1);
  });

  test("before it is read: the changed content is what is reviewed and posted", async () => {
    const token = rig.world.newRun();
    await rig.world.control.putDocument(documentIdOf(token, oneApprover), oneApprover.mediaType, threeDesks);
    const { ann } = await reviews.openApi(token);
    await reviews.withRelay(() =>
      rig.withWorker(worker, async (taskQueue) => {
        const batch = approvedBatch(token, patientPolicy, [oneApprover]);
        const started = replay.track(await startBatch(rig.client, taskQueue, batch));
        const seen = await seeReview(ann, reviewOf(token, oneApprover), AbortSignal.timeout(60_000));
        await decide(ann, seen, "d", "approve");
        expect((await started.result()).outcomes[0]).toMatchObject({
          outcome: "posted",
          amountMinor: 1_924_23,
        });
      }),
    );
  });
});
