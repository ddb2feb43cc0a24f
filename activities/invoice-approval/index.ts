/** The effects of the invoice process. Workflow code takes the types of this file, and nothing else from here. */
import { createExtractInvoice, type ExtractionDependencies } from "./extract-invoice.js";
import { createPostInvoice, type PostingDependencies } from "./post-invoice.js";
import type { RecoveryEntry, RecoveryQueue } from "./ports.js";
import { createValidateInvoice, type ValidationDependencies } from "./validate-invoice.js";

export interface InvoiceDependencies
  extends ExtractionDependencies, ValidationDependencies, PostingDependencies {
  readonly recovery: RecoveryQueue;
}

export type InvoiceActivities = ReturnType<typeof createInvoiceActivities>;

export function createInvoiceActivities(dependencies: InvoiceDependencies) {
  const { register, recovery } = dependencies;
  return {
    extractInvoice: createExtractInvoice(dependencies),
    validateInvoice: createValidateInvoice(dependencies),
    postInvoice: createPostInvoice(dependencies),

    /**
     * Frees the invoice's number for another processing.
     *
     * Crash before or after: one statement that only this processing's row answers to; repeating it changes nothing.
     */
    async releaseInvoice(processingId: string): Promise<void> {
      await register.release(processingId);
    },

    /**
     * Puts what the process couldn't resolve where people look.
     *
     * Crash before or after: one insert-if-absent by the subject; repeating it adds no second row.
     */
    async reportForRecovery(entry: RecoveryEntry): Promise<void> {
      await recovery.report(entry);
    },
  };
}
