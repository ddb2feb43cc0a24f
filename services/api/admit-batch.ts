import type { Ledger } from "../../adapters/ledger/database.js";
import { enqueue } from "../../adapters/ledger/outbox/enqueue.js";
import { admit, type AdmitResult } from "../../adapters/ledger/requests/admit.js";
import { countOpen } from "../../adapters/ledger/requests/count-open.js";
import { withRetry } from "../../adapters/ledger/retryable.js";
import { batchWorkflowId } from "../../workflows/invoice-approval/keys.js";
import type { InvoiceBatch } from "../../workflows/invoice-approval/messages.js";
import type { Caller } from "./callers.js";
import { ApiProblem } from "./problems.js";

export const invoiceBatchKind = "invoice-batch";

/** Tries of a transaction within one request. The caller has the key to try again; a long wait only holds both up. */
export const transactionTriesMax = 2;

export interface BatchAdmission {
  readonly caller: Caller;
  readonly idempotencyKey: string;
  readonly invoices: InvoiceBatch["invoices"];
  /** Taken only when the batch is new; its `batchId` becomes the request's id. */
  readonly batch: InvoiceBatch;
  readonly taskQueue: string;
  readonly openBatchesMax: number;
}

/**
 * Stores the request and the message that starts its workflow, both or neither.
 *
 * Crash before the commit: nothing was admitted, and the caller was told nothing.
 * Crash after it: the batch will run, and the caller's next try under the same key gets this request.
 *
 * @throws ApiProblem `IdempotencyKeyReused`, `TooManyOpenBatches`
 */
export function admitBatch(
  ledger: Ledger,
  admission: BatchAdmission,
): Promise<Exclude<AdmitResult, { outcome: "conflict" }>> {
  const { caller, idempotencyKey, invoices, batch, taskQueue, openBatchesMax } = admission;
  const workflowId = batchWorkflowId(batch.batchId);
  const once = () =>
    ledger.transaction().execute(async (transaction) => {
      const result = await admit(transaction, {
        requestId: batch.batchId,
        caller: caller.id,
        idempotencyKey,
        kind: invoiceBatchKind,
        tenant: caller.tenant,
        workflowId,
        body: { invoices: invoices.map((invoice) => ({ ...invoice })) },
      });
      if (result.outcome === "conflict") throw keyReused(idempotencyKey, result);
      // What was admitted before isn't counted against anybody again.
      if (result.outcome === "existing") return result;
      const open = await countOpen(transaction, { kind: invoiceBatchKind, tenant: caller.tenant });
      if (open > openBatchesMax) throw tooManyOpen(caller.tenant, openBatchesMax);
      await enqueue(transaction, `start:${workflowId}`, {
        kind: "start",
        workflowId,
        workflowType: "invoiceBatch",
        taskQueue,
        args: [asJson(batch)],
        workflowTaskTimeoutMs: batch.policy.workflowTaskTimeoutMs,
        searchAttributes: {
          KillproofCase: "invoice-approval",
          KillproofTenant: batch.tenant,
          KillproofSubject: batch.batchId,
          KillproofState: "processing",
        },
      });
      return result;
    });
  // The unique key makes a second execution give the first one's request.
  return withRetry(once, { readBack: "repeatable", attemptsMax: transactionTriesMax });
}

/** Interfaces aren't assignable to JSON's type, though this one holds nothing else. */
function asJson(batch: InvoiceBatch) {
  return JSON.parse(JSON.stringify(batch)) as { [field: string]: never };
}

function keyReused(key: string, conflict: Extract<AdmitResult, { outcome: "conflict" }>): ApiProblem {
  const { requestId, storedFingerprint, offeredFingerprint } = conflict;
  return new ApiProblem(
    "IdempotencyKeyReused",
    `the key ${JSON.stringify(key)} stands for ${requestId} with the fingerprint ${storedFingerprint}; ` +
      `this body has ${offeredFingerprint}`,
    { requestId, storedFingerprint, offeredFingerprint },
  );
}

function tooManyOpen(tenant: string, openBatchesMax: number): ApiProblem {
  return new ApiProblem(
    "TooManyOpenBatches",
    `${tenant} has ${openBatchesMax} open batches, which is as many as allowed; try again when one has ended`,
    { openBatchesMax },
  );
}
