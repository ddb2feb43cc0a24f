/** How an invoice's process is started again by a person's answer: as it was started, under the id that it had. */
import { workflowInfo } from "@temporalio/workflow";
import type { JsonValue } from "../../activities/operation/json.js";
import type { ProcessStart } from "../../activities/invoice-approval/steps.js";
import { caseAttribute, stateAttribute, subjectAttribute, tenantAttribute } from "../search-attributes.js";
import type { InvoiceJob } from "./messages.js";

export function restartOf(job: InvoiceJob): ProcessStart {
  const { workflowId, workflowType, taskQueue } = workflowInfo();
  return {
    workflowId,
    workflowType,
    taskQueue,
    // A job holds nothing but JSON; an interface isn't assignable to JSON's type all the same.
    args: [job as unknown as JsonValue],
    workflowTaskTimeoutMs: job.policy.workflowTaskTimeoutMs,
    searchAttributes: {
      [caseAttribute.name]: "invoice-approval",
      [tenantAttribute.name]: job.tenant,
      [subjectAttribute.name]: job.invoice.invoiceKey,
      [stateAttribute.name]: "extracting",
    },
  };
}
