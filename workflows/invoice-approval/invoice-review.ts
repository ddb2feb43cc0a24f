/**
 * The review of one invoice, from opening it to its end. It waits for the hint that the review has ended or for the
 * deadline, whichever comes first, and then asks the ledger, which alone knows. The ledger's clock and Temporal's may
 * differ: where the ledger says that there is still time, the wait goes on for as long as it says.
 */
import { condition, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import type { InvoiceAssessment } from "../../activities/invoice-approval/assessment.js";
import type { ReviewEnd, ReviewRequest } from "../../activities/invoice-approval/steps.js";
import { deadlineAttribute } from "../search-attributes.js";
import { processingIdOf, reviewIdOf } from "./keys.js";
import type { InvoiceJob } from "./messages.js";
import type { ReviewPolicy } from "./policy.js";
import type { InvoiceSteps } from "./steps.js";

/** An end that isn't `open` any more. */
export type DecidedReview = Exclude<ReviewEnd, { state: "open" }>;

export class InvoiceReview {
  readonly reviewId: string;
  /** Set by the hint, also before the review is open; cleared before the ledger is asked. */
  private hinted = false;
  /** From the moment it is asked for: an opening whose answer was lost has opened it all the same. */
  private asked = false;

  constructor(
    private readonly job: InvoiceJob,
    private readonly steps: InvoiceSteps,
  ) {
    const { batchId, invoice } = job;
    this.reviewId = reviewIdOf(processingIdOf(batchId, invoice.invoiceKey), invoice.revision);
  }

  wake(): void {
    this.hinted = true;
  }

  /** Opens the review and waits for its end. */
  async decided(assessment: InvoiceAssessment, policy: ReviewPolicy): Promise<DecidedReview> {
    const request = this.requestFor(assessment, policy);
    this.asked = true;
    const { deadlineAt } = await this.steps.openReview(request);
    upsertSearchAttributes([{ key: deadlineAttribute, value: new Date(deadlineAt) }]);
    let waitMs = Date.parse(deadlineAt) - Date.now();
    for (;;) {
      // Rival: `wake` sets the flag at any time, also while the ledger was being asked; then there is no wait.
      if (waitMs > 0) await condition(() => this.hinted, waitMs);
      this.hinted = false;
      const end = await this.steps.resolveReview(request);
      if (end.state !== "open") {
        this.asked = false;
        upsertSearchAttributes([{ key: deadlineAttribute, value: null }]);
        return end;
      }
      waitMs = end.remainingMs;
    }
  }

  /** For a process that ends without the decision: nobody is to decide in vain. */
  async withdraw(): Promise<void> {
    if (this.asked) await this.steps.withdrawReview(this.reviewId);
  }

  private requestFor(assessment: InvoiceAssessment, { deadlineMs }: ReviewPolicy): ReviewRequest {
    const { batchId, tenant, invoice, admission } = this.job;
    const { payloadDigest, currency, amountMinor, approvalsNeeded } = assessment;
    return {
      processingId: processingIdOf(batchId, invoice.invoiceKey),
      tenant,
      reviewId: this.reviewId,
      invoice,
      payloadDigest,
      currency,
      amountMinor,
      approvalsNeeded,
      deadlineAt: new Date(Date.now() + deadlineMs).toISOString(),
      workflowId: workflowInfo().workflowId,
      excluded: admission === undefined ? [] : [admission.submittedBy],
      mailTo: admission?.reviewerMails ?? [],
    };
  }
}
