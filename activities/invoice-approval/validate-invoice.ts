import type { PayloadStore } from "../ports.js";
import { assess } from "./assess.js";
import type { AssessmentRules, InvoiceAssessment } from "./assessment.js";
import type { ExtractedInvoice } from "./invoice-document/invoice.js";
import type { InvoiceRegister, SupplierDirectory } from "./ports.js";
import type { InvoiceReference, ProcessingIdentity } from "./steps.js";
import { storedInvoice } from "./stored-invoice.js";

export interface ValidationDependencies {
  readonly payloads: PayloadStore;
  readonly suppliers: SupplierDirectory;
  readonly register: InvoiceRegister;
}

export type ValidationRequest = ProcessingIdentity & {
  readonly invoice: InvoiceReference;
  readonly payloadDigest: string;
  readonly rules: AssessmentRules;
};

/**
 * Judges the stored invoice and, unless it is wrong in itself, claims its number, so that no other processing can
 * post it. A rejected invoice claims nothing: its number is free for the corrected one.
 *
 * Crash before the claim: nothing has changed.
 * Crash during it: the claim is one insert, there or not there.
 * Crash after it: the next attempt claims for the same processing and is told that it holds it.
 * The claim is given up by `releaseInvoice` when the process ends without a posting.
 */
export function createValidateInvoice({ payloads, suppliers, register }: ValidationDependencies) {
  return async function validateInvoice(request: ValidationRequest): Promise<InvoiceAssessment> {
    const invoice = await storedInvoice(payloads, request.payloadDigest);
    const supplier = await suppliers.find(invoice.supplier.vatId);
    const assessment = assess(invoice, request.payloadDigest, supplier, request.rules);
    if (assessment.check === "rejected") return assessment;
    const claim = await register.claim({
      processingId: request.processingId,
      invoiceKey: request.invoice.invoiceKey,
      tenant: request.tenant,
      supplierId: invoice.supplier.vatId,
      invoiceNumber: invoice.number,
    });
    return claim.held === "by-us" ? assessment : duplicate(assessment, invoice, claim.processingId);
  };
}

function duplicate(
  assessment: InvoiceAssessment,
  invoice: ExtractedInvoice,
  holder: string,
): InvoiceAssessment {
  return {
    ...assessment,
    check: "duplicate",
    approvalsNeeded: 0,
    duplicateOf: holder,
    findings: [
      {
        rule: "number-unused",
        field: "number",
        expected: `a number of ${invoice.supplier.vatId} that is in no other processing`,
        actual: `${invoice.number}, held by ${holder}`,
      },
    ],
  };
}
