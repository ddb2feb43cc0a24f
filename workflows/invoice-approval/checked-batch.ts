import type { ApplicationFailure } from "@temporalio/workflow";
import { visibleFailure } from "./failures.js";
import { batchSizeMax, keyPattern } from "./limits.js";
import type { InvoiceBatch } from "./messages.js";

/**
 * Refuses a batch as a whole before anything was done for any of its invoices.
 *
 * @throws ApplicationFailure of type `InvalidRequest` naming the field, the value and what is allowed
 */
export function requireValidBatch(batch: InvoiceBatch): void {
  const { invoices } = batch;
  requireKey("batchId", batch.batchId);
  if (invoices.length < 1 || invoices.length > batchSizeMax) {
    throw invalid(`invoices has ${invoices.length} entries; allowed: 1 to ${batchSizeMax}`);
  }
  for (const [index, { invoiceKey, revision }] of invoices.entries()) {
    requireKey(`invoices[${index}].invoiceKey`, invoiceKey);
    if (!Number.isSafeInteger(revision) || revision < 1) {
      throw invalid(`invoices[${index}].revision is ${revision}; allowed: 1, 2, 3 …`);
    }
  }
  const repeated = repeatedKeys(batch);
  if (repeated.length > 0) {
    throw invalid(`invoices holds ${repeated.join(", ")} more than once; allowed: distinct invoice keys`);
  }
}

function repeatedKeys({ invoices }: InvoiceBatch): string[] {
  const keys = invoices.map(({ invoiceKey }) => invoiceKey);
  return [...new Set(keys.filter((key, index) => keys.indexOf(key) !== index))];
}

function requireKey(field: string, value: string): void {
  if (!keyPattern.test(value)) {
    throw invalid(
      `${field} is ${JSON.stringify(value)}; allowed: 1 to 100 of letters, digits and . _ ~ @ + = -`,
    );
  }
}

function invalid(message: string): ApplicationFailure {
  return visibleFailure("InvalidRequest", message);
}
