/** The effects of the invoice process. Workflow code takes the types of this file, and nothing else from here. */
import { createExtractInvoice, type ExtractionDependencies } from "./extract-invoice.js";
import { createPostInvoice, type PostingDependencies } from "./post-invoice.js";
import type { IgnoredHints, RecoveryEntry, RecoveryQueue, RequestBook } from "./ports.js";
import { createOpenReview, createResolveReview, type ReviewDependencies } from "./review-invoice.js";
import type { BatchProgress, IgnoredHint } from "./steps.js";
import { createValidateInvoice, type ValidationDependencies } from "./validate-invoice.js";

export interface InvoiceDependencies
  extends ExtractionDependencies, ValidationDependencies, ReviewDependencies, PostingDependencies {
  readonly recovery: RecoveryQueue;
  readonly hints: IgnoredHints;
  readonly requests: RequestBook;
}

export type InvoiceActivities = ReturnType<typeof createInvoiceActivities>;

export function createInvoiceActivities(dependencies: InvoiceDependencies) {
  const { register, recovery, hints, requests, reviews } = dependencies;
  return {
    extractInvoice: createExtractInvoice(dependencies),
    validateInvoice: createValidateInvoice(dependencies),
    openReview: createOpenReview(dependencies),
    resolveReview: createResolveReview(dependencies),
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
     * Withdraws a review that the process doesn't wait for any more, so that nobody decides in vain.
     *
     * Crash before or after: one transaction under the review's lock; repeating it finds the end that is there.
     */
    async withdrawReview(reviewId: string): Promise<void> {
      await reviews.withdraw(reviewId);
    },

    /**
     * Puts what the process couldn't resolve where people look.
     *
     * Crash before or after: one insert-if-absent by the subject; repeating it adds no second row.
     */
    async reportForRecovery(entry: RecoveryEntry): Promise<void> {
      await recovery.report(entry);
    },

    /**
     * Keeps a hint that named nothing of ours, so that whoever sent it can be found.
     *
     * Crash before or after: one insert-if-absent by the hint's content; repeating it adds no second row.
     */
    async recordIgnoredHint(hint: IgnoredHint): Promise<void> {
      await hints.record(hint);
    },

    /**
     * Tells the admitted request how its batch stands, for whoever asks after Temporal has forgotten it.
     *
     * Crash before or after: one compare-and-set; repeating it changes nothing.
     */
    async recordBatchProgress(progress: BatchProgress): Promise<void> {
      await requests.move(progress);
    },
  };
}
