/** By these, workflows of every case are found and counted. They have to be registered with the server. */
import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

/** Which process: `invoice-approval`. */
export const caseAttribute = defineSearchAttributeKey("KillproofCase", SearchAttributeType.KEYWORD);
/** Where it stands, in the words of the case. */
export const stateAttribute = defineSearchAttributeKey("KillproofState", SearchAttributeType.KEYWORD);
export const tenantAttribute = defineSearchAttributeKey("KillproofTenant", SearchAttributeType.KEYWORD);
/** The business id: an invoice, a tenant, a subscription. */
export const subjectAttribute = defineSearchAttributeKey("KillproofSubject", SearchAttributeType.KEYWORD);
/** Until when the process waits for somebody. */
export const deadlineAttribute = defineSearchAttributeKey("KillproofDeadline", SearchAttributeType.DATETIME);

export const searchAttributes = [
  caseAttribute,
  stateAttribute,
  tenantAttribute,
  subjectAttribute,
  deadlineAttribute,
];
