/**
 * Every name that the process gives: from its input alone, so that a retry, a replay, a reset and a second worker all
 * come to the same ones.
 */

export function processingIdOf(batchId: string, invoiceKey: string): string {
  return `${batchId}:${invoiceKey}`;
}

/** One review of one revision; whatever is reviewed after a correction is another processing. */
export function reviewIdOf(processingId: string, revision: number): string {
  return `review:${processingId}:${revision}`;
}

/** One open process for each invoice: Temporal refuses a second one under the id. */
export function invoiceWorkflowId(invoiceKey: string): string {
  return `invoice:${invoiceKey}`;
}

export function batchWorkflowId(batchId: string): string {
  return `invoice-batch:${batchId}`;
}

/** The operation key of the posting. It holds no revision: two revisions of one invoice must not both be posted. */
export function postingKey(invoiceKey: string): string {
  return `invoice:${invoiceKey}:post`;
}

/** Who waits for an operation: the inverse of `postingKey`. `undefined` when it isn't an invoice's. */
export function workflowOfOperation(operationKey: string): string | undefined {
  return /^(invoice:[^:]+):post$/.exec(operationKey)?.[1];
}
