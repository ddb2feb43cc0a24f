/** The activities, under the policy that this process was admitted with. */
import { ActivityCancellationType, proxyActivities } from "@temporalio/workflow";
import type { InvoiceActivities } from "../../activities/invoice-approval/index.js";
import { nonRetryableFailures } from "../../failures/catalogue.js";
import type { ActivityPolicy } from "./policy.js";

export type InvoiceSteps = InvoiceActivities;

export function stepsUnder(policy: ActivityPolicy): InvoiceSteps {
  const common = {
    startToCloseTimeout: policy.startToCloseMs,
    heartbeatTimeout: policy.heartbeatMs,
    retry: {
      initialInterval: policy.retryInitialMs,
      backoffCoefficient: policy.retryBackoff,
      maximumInterval: policy.retryMaximumMs,
      nonRetryableErrorTypes: [...nonRetryableFailures],
    },
    // A step that has begun tells how it ended, also when the process is being cancelled: it may have posted.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  };
  const limited = { ...common, scheduleToCloseTimeout: policy.giveUpAfterMs };
  const { extractInvoice, validateInvoice } = proxyActivities<InvoiceActivities>(limited);
  const unlimited = proxyActivities<InvoiceActivities>(common);
  return {
    extractInvoice,
    validateInvoice,
    openReview: unlimited.openReview,
    resolveReview: unlimited.resolveReview,
    withdrawReview: unlimited.withdrawReview,
    postInvoice: unlimited.postInvoice,
    releaseInvoice: unlimited.releaseInvoice,
    reportForRecovery: unlimited.reportForRecovery,
    recordIgnoredHint: unlimited.recordIgnoredHint,
    recordBatchProgress: unlimited.recordBatchProgress,
  };
}
