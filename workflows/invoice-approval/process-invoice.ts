/**
 * One invoice: extract, validate, have it reviewed where the rules ask for it, post. It waits for a review until its
 * deadline, and where accounting's answer can't be known it stays open, parked, until a person has answered. It never
 * continues as new: a review is one wait, and the longest other one doubles its polls up to a day, a few thousand
 * events a year.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  setHandler,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import type { InvoiceAssessment } from "../../activities/invoice-approval/assessment.js";
import { stateAttribute } from "../search-attributes.js";
import { isFailureOf, namedFailure, visibleFailure } from "./failures.js";
import { IgnoredHints } from "./ignored-hints.js";
import { InvoiceReview } from "./invoice-review.js";
import { invoiceWorkflowId, postingKey, processingIdOf } from "./keys.js";
import {
  invoiceStateQuery,
  operationAnswered,
  ticketClosed,
  type InvoiceJob,
  type InvoiceOutcome,
  type InvoiceState,
  type OperationAnsweredHint,
  type TicketClosedHint,
} from "./messages.js";
import { restartOf } from "./restart.js";
import { stepsUnder, type InvoiceSteps } from "./steps.js";

export async function processInvoice(job: InvoiceJob): Promise<InvoiceOutcome> {
  const processing = new InvoiceProcessing(job, stepsUnder(job.policy.activity));
  setHandler(invoiceStateQuery, () => processing.state);
  // A hint may come from anybody and hold anything, whatever its type says.
  setHandler(operationAnswered, (hint: OperationAnsweredHint | undefined) => processing.hearAnswer(hint));
  setHandler(ticketClosed, (hint: TicketClosedHint | undefined) => processing.hearTicket(hint));
  try {
    const assessment = await processing.assess();
    const outcome = await processing.conclude(assessment);
    processing.enter(outcome.outcome);
    await handlersDone();
    return outcome;
  } catch (error) {
    // Also when cancelled: what may have been posted must not be left without anybody who knows.
    const failure = await CancellationScope.nonCancellable(() => processing.failVisibly(error));
    await handlersDone();
    throw failure;
  }
}

/** A hint that is being recorded would be lost with the process. */
function handlersDone(): Promise<void> {
  return CancellationScope.nonCancellable(() => condition(allHandlersFinished));
}

class InvoiceProcessing {
  state: InvoiceState = "extracting";
  private readonly processingId: string;
  private readonly postingKey: string;
  private readonly review: InvoiceReview;
  private readonly ignored: IgnoredHints;
  /** From the first call of accounting until an answer that excludes a posting. */
  private mayHavePosted = false;
  /** Set by the hint, cleared before the journal is asked. */
  private answered = false;

  constructor(
    private readonly job: InvoiceJob,
    private readonly steps: InvoiceSteps,
  ) {
    this.processingId = processingIdOf(job.batchId, job.invoice.invoiceKey);
    this.postingKey = postingKey(job.invoice.invoiceKey);
    this.review = new InvoiceReview(job, steps);
    this.ignored = new IgnoredHints(this.processingId, steps);
  }

  enter(state: InvoiceState): void {
    this.state = state;
    upsertSearchAttributes([{ key: stateAttribute, value: state }]);
  }

  async hearAnswer(hint: OperationAnsweredHint | undefined): Promise<void> {
    if (hint?.operationKey === this.postingKey) this.answered = true;
    else await this.ignored.record(operationAnswered.name, hint);
  }

  async hearTicket(hint: TicketClosedHint | undefined): Promise<void> {
    if (hint?.ticketId === this.review.reviewId) this.review.wake();
    else await this.ignored.record(ticketClosed.name, hint);
  }

  async assess(): Promise<InvoiceAssessment> {
    const { invoice, tenant, policy } = this.job;
    const { payloadDigest } = await this.steps.extractInvoice(invoice);
    this.state = "validating";
    const { processingId } = this;
    const rules = policy.assessment;
    return this.steps.validateInvoice({ processingId, tenant, invoice, payloadDigest, rules });
  }

  /** From an assessment to the end. A check that isn't listed is nobody's approval, so nothing is done with it. */
  async conclude(assessment: InvoiceAssessment): Promise<InvoiceOutcome> {
    const { invoiceKey } = this.job.invoice;
    switch (assessment.check) {
      case "valid":
        return this.post(assessment);
      case "rejected":
        return { outcome: "rejected", invoiceKey, findings: assessment.findings };
      case "duplicate":
        return { outcome: "duplicate", invoiceKey, duplicateOf: assessment.duplicateOf ?? "unknown" };
      case "needs-review":
        return this.postIfApproved(assessment);
      default:
        throw visibleFailure(
          "UnrecognisedResult",
          `${invoiceKey} was assessed as ${JSON.stringify(assessment.check satisfies never)}; nothing was posted`,
        );
    }
  }

  /** What is posted is the content that was approved, as it is stored. */
  private async postIfApproved(assessment: InvoiceAssessment): Promise<InvoiceOutcome> {
    const { invoiceKey } = this.job.invoice;
    const { review: policy } = this.job.policy;
    if (policy === undefined) {
      throw visibleFailure(
        "ReviewNotAvailable",
        `${invoiceKey} needs ${assessment.approvalsNeeded} approval(s); nothing was posted`,
      );
    }
    this.enter("in-review");
    const end = await this.review.decided(assessment, policy);
    switch (end.state) {
      case "approved":
        return this.post({ ...assessment, payloadDigest: end.payloadDigest });
      case "rejected":
        await this.steps.releaseInvoice(this.processingId);
        return { outcome: "rejected", invoiceKey, findings: assessment.findings, rejectedBy: end.by };
      case "expired":
        await this.steps.releaseInvoice(this.processingId);
        return { outcome: "expired", invoiceKey, reviewId: this.review.reviewId };
      default:
        throw visibleFailure(
          "UnrecognisedResult",
          `${this.review.reviewId} ended as ${JSON.stringify(end satisfies never)}; nothing was posted`,
        );
    }
  }

  /** Posts; where the outcome can't be known, waits for a person's answer and asks the journal again. */
  private async post(assessment: InvoiceAssessment): Promise<InvoiceOutcome> {
    this.state = "posting";
    const outcome = await this.postUnlessParked(assessment);
    // Accounting has been asked, so a cancellation comes too late: what became of the posting has to be recorded.
    return outcome ?? CancellationScope.nonCancellable(() => this.postWhenAnswered(assessment));
  }

  private async postWhenAnswered(assessment: InvoiceAssessment): Promise<InvoiceOutcome> {
    let pollMs = this.job.policy.parked.pollInitialMs;
    for (;;) {
      this.park();
      // Rival: `hearAnswer` sets the flag at any time, also while the journal was being asked; then there is no wait.
      await condition(() => this.answered, pollMs);
      pollMs = Math.min(pollMs * 2, this.job.policy.parked.pollMaximumMs);
      const outcome = await this.postUnlessParked(assessment);
      if (outcome !== undefined) return outcome;
    }
  }

  private async postUnlessParked(assessment: InvoiceAssessment): Promise<InvoiceOutcome | undefined> {
    this.answered = false;
    try {
      return await this.postOnce(assessment);
    } catch (error) {
      if (!isFailureOf(error, "OperationParked")) throw error;
      return undefined;
    }
  }

  private park(): void {
    if (this.state !== "parked") this.enter("parked");
  }

  private async postOnce(assessment: InvoiceAssessment): Promise<InvoiceOutcome> {
    const { invoice } = this.job;
    const { payloadDigest, currency, amountMinor } = assessment;
    this.mayHavePosted = true;
    const receipt = await this.steps.postInvoice({
      operationKey: this.postingKey,
      invoice,
      payloadDigest,
      currency,
      amountMinor,
    });
    const { invoiceKey, revision } = invoice;
    const { entryReference } = receipt;
    return { outcome: "posted", invoiceKey, revision, entryReference, payloadDigest, currency, amountMinor };
  }

  /**
   * Leaves a row for a person, gives the number back if a posting is excluded, and returns what to fail with. After a
   * posting that may have happened the claim stays, or a second processing could post the same invoice.
   */
  async failVisibly(error: unknown): Promise<unknown> {
    const failure = namedFailure(error);
    if (isFailureOf(error, "OperationRefused")) this.mayHavePosted = false;
    this.enter("failed-visibly");
    await this.steps.reportForRecovery({
      subject: invoiceWorkflowId(this.job.invoice.invoiceKey),
      reason: failure.type,
      detail: failure.message,
      restart: restartOf(this.job),
    });
    await this.review.withdraw();
    if (!this.mayHavePosted) await this.steps.releaseInvoice(this.processingId);
    return isCancellation(error) ? error : ApplicationFailure.nonRetryable(failure.message, failure.type);
  }
}
