import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { ApplicationFailure } from "@temporalio/common";
import type { FailureName } from "../../failures/catalogue.js";
import type { PayloadStore } from "../ports.js";
import type { ExtractedInvoice } from "./invoice-document/invoice.js";

const schema: ExtractedInvoice["schema"] = "extracted-invoice/1";

/**
 * Loads the invoice behind a digest and proves that it is that one: whoever approved the digest approved this
 * content, whatever has happened to the store since.
 *
 * @throws ApplicationFailure of type `PayloadMismatch` when the content gives another digest, or isn't an invoice
 */
export async function storedInvoice(payloads: PayloadStore, digest: string): Promise<ExtractedInvoice> {
  const value = await payloads.get(digest);
  const actual = digestOf(value);
  if (actual !== digest) throw mismatch(`the content stored under ${digest} has the digest ${actual}`);
  if ((value as Partial<ExtractedInvoice>).schema !== schema) {
    throw mismatch(`the content stored under ${digest} isn't of the schema ${schema}`);
  }
  return value as ExtractedInvoice;
}

export function mismatch(message: string): ApplicationFailure {
  const type: FailureName = "PayloadMismatch";
  return ApplicationFailure.nonRetryable(message, type);
}

function digestOf(value: unknown): string {
  return createHash("sha256")
    .update(canonicalize(value) ?? "", "utf8")
    .digest("hex");
}
