/**
 * A batch starts one process for each invoice, waits for all of them and lists how each ended. One failing undoes
 * nothing and holds up nobody. It never continues as new: eight children are some fifty events.
 */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  upsertSearchAttributes,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import type { JsonValue } from "../../activities/operation/json.js";
import type { InvoiceReference } from "../../activities/invoice-approval/steps.js";
import { caseAttribute, stateAttribute, subjectAttribute, tenantAttribute } from "../search-attributes.js";
import { requireValidBatch } from "./checked-batch.js";
import { namedFailure } from "./failures.js";
import { invoiceWorkflowId } from "./keys.js";
import type { InvoiceBatch, InvoiceBatchResult, InvoiceOutcome, VisibleFailure } from "./messages.js";
import { processInvoice } from "./process-invoice.js";
import { stepsUnder } from "./steps.js";

export const invoiceCase = "invoice-approval";

export async function invoiceBatch(batch: InvoiceBatch): Promise<InvoiceBatchResult> {
  requireValidBatch(batch);
  await tellRequest(batch, "running");
  const ends = await Promise.allSettled(batch.invoices.map((invoice) => processChild(batch, invoice)));
  const outcomes = ends.map((end, index) =>
    end.status === "fulfilled" ? end.value : failureOf(end.reason, batch.invoices[index]!),
  );
  const failures = outcomes.filter(({ outcome }) => outcome === "failed-visibly").length;
  upsertSearchAttributes([
    { key: stateAttribute, value: failures === 0 ? "finished" : "finished-with-failures" },
  ]);
  const result = { batchId: batch.batchId, outcomes, failures };
  await tellRequest(batch, "completed", result);
  return result;
}

/** A batch that nobody admitted has no request to tell. Also when cancelled: a request must not stay open for ever. */
async function tellRequest(
  { admission, policy }: InvoiceBatch,
  state: "running" | "completed",
  result?: InvoiceBatchResult,
): Promise<void> {
  if (admission === undefined) return;
  const { recordBatchProgress } = stepsUnder(policy.activity);
  const { requestId } = admission;
  await CancellationScope.nonCancellable(() =>
    // The result holds nothing but JSON; an interface isn't assignable to JSON's type all the same.
    recordBatchProgress({ requestId, state, ...(result && { result: result as unknown as JsonValue }) }),
  );
}

function processChild(batch: InvoiceBatch, invoice: InvoiceReference): Promise<InvoiceOutcome> {
  const { batchId, tenant, policy, admission } = batch;
  const { invoiceKey } = invoice;
  return executeChild(processInvoice, {
    args: [{ batchId, tenant, invoice, policy, ...(admission && { admission }) }],
    workflowId: invoiceWorkflowId(invoiceKey),
    // An open one under the id is always refused. A closed one may come again, as a corrected revision; whether it
    // may post is decided by the register, which outlives Temporal's retention.
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    // An invoice goes on when its batch is terminated: ending it half-way could leave a posting nobody knows of. What
    // becomes of it then is looked up by the sweep, which ends the batch's request.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    // A cancelled batch asks its invoices to stop and waits for them, so that its result says what they really did.
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    workflowTaskTimeout: policy.workflowTaskTimeoutMs,
    typedSearchAttributes: [
      { key: caseAttribute, value: invoiceCase },
      { key: tenantAttribute, value: tenant },
      { key: subjectAttribute, value: invoiceKey },
      { key: stateAttribute, value: "extracting" },
    ],
  });
}

function failureOf(error: unknown, { invoiceKey }: InvoiceReference): InvoiceOutcome | VisibleFailure {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return { outcome: "duplicate", invoiceKey, duplicateOf: invoiceWorkflowId(invoiceKey) };
  }
  return { outcome: "failed-visibly", invoiceKey, ...namedFailure(error) };
}
