/** The policy that admitted batches are processed under. A batch keeps the one it was admitted with. */
import { z } from "zod";
import type { InvoicePolicy } from "../../workflows/invoice-approval/policy.js";
import { readJsonFile } from "./json-file.js";

const milliseconds = z.int("must be a whole number of milliseconds").min(1, "must be at least 1 ms");
const minorUnits = z.int("must be a whole number of minor units").min(0, "must not be negative");

const policySchema = z.strictObject({
  assessment: z.strictObject({
    currencies: z.array(z.string().regex(/^[A-Z]{3}$/, "must be a code of ISO 4217")).min(1, "must hold one"),
    reviewFromMinor: minorUnits,
    twoApproversFromMinor: minorUnits,
  }),
  activity: z.strictObject({
    startToCloseMs: milliseconds,
    heartbeatMs: milliseconds,
    retryInitialMs: milliseconds,
    retryBackoff: z.number("must be a number").min(1, "must be at least 1"),
    retryMaximumMs: milliseconds,
    giveUpAfterMs: milliseconds,
  }),
  workflowTaskTimeoutMs: milliseconds,
  parked: z.strictObject({ pollInitialMs: milliseconds, pollMaximumMs: milliseconds }),
  review: z.strictObject({ deadlineMs: milliseconds }),
});

/** @throws SettingsError */
export function readInvoicePolicy(file: string): Promise<InvoicePolicy> {
  return readJsonFile("INVOICE_POLICY_FILE", file, policySchema);
}
