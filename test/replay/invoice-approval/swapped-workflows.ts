/** The process with its first two steps the other way round, as a careless change would leave it. */
import { stepsUnder } from "../../../workflows/invoice-approval/steps.js";
import type { InvoiceJob } from "../../../workflows/invoice-approval/messages.js";

export { invoiceBatch } from "../../../workflows/invoice-approval/invoice-batch.js";

export async function processInvoice({ batchId, tenant, invoice, policy }: InvoiceJob): Promise<void> {
  const steps = stepsUnder(policy.activity);
  const processingId = `${batchId}:${invoice.invoiceKey}`;
  const rules = policy.assessment;
  await steps.validateInvoice({ processingId, tenant, invoice, payloadDigest: "not yet", rules });
  await steps.extractInvoice(invoice);
}
