/**
 * A batch that nobody has to look at: four invoices in three formats are posted, and of four more each is rejected
 * for its own reason. It ends when its batch workflow has ended; nothing outside acts in it.
 *
 * The run's token is in every business id, so many runs can share one server, one ledger and one outside world.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Client, WorkflowHandle } from "@temporalio/client";
import { invoiceBatch, invoiceCase } from "../../../workflows/invoice-approval/invoice-batch.js";
import { batchWorkflowId } from "../../../workflows/invoice-approval/keys.js";
import type { InvoiceBatch, InvoiceOutcome } from "../../../workflows/invoice-approval/messages.js";
import {
  caseAttribute,
  stateAttribute,
  subjectAttribute,
  tenantAttribute,
} from "../../../workflows/search-attributes.js";
import type { InvoiceScenarioPolicy } from "../policy.js";

export interface SampleInvoice {
  /** Ends the invoice's key and begins the document's id. */
  readonly name: string;
  readonly file: string;
  readonly mediaType: string;
  readonly expected: InvoiceOutcome["outcome"];
}

export const automaticInvoices: readonly SampleInvoice[] = [
  sample("office", "office-supplies.ubl.xml", "application/xml", "posted"),
  sample("hosting", "hosting.cii.xml", "application/xml", "posted"),
  sample("cleaning", "cleaning.pdf", "application/pdf", "posted"),
  sample("swiss", "swiss-rounding.ubl.xml", "application/xml", "posted"),
  sample("sum", "sum-wrong.ubl.xml", "application/xml", "rejected"),
  sample("vat", "vat-wrong.cii.xml", "application/xml", "rejected"),
  sample("currency", "currency-unknown.ubl.xml", "application/xml", "rejected"),
  sample("supplier", "supplier-unknown.ubl.xml", "application/xml", "rejected"),
];

function sample(
  name: string,
  file: string,
  mediaType: string,
  expected: SampleInvoice["expected"],
): SampleInvoice {
  return { name, file, mediaType, expected };
}

export function invoiceKeyOf(token: string, { name }: SampleInvoice): string {
  return `${token}-${name}`;
}

export function documentIdOf(token: string, { file }: SampleInvoice): string {
  return `${token}-${file}`;
}

/** A document as it has to be in the store before the story starts. */
export interface StoryDocument {
  readonly documentId: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** @param root the package's folder, where the samples are kept as files beside the code */
export function storyDocuments(
  root: string,
  token: string,
  samples: readonly SampleInvoice[] = automaticInvoices,
): Promise<readonly StoryDocument[]> {
  const folder = path.join(root, "scenarios", "invoice-approval", "files");
  return Promise.all(
    samples.map(async (each) => ({
      documentId: documentIdOf(token, each),
      mediaType: each.mediaType,
      bytes: await readFile(path.join(folder, each.file)),
    })),
  );
}

export function automaticBatch(
  token: string,
  policy: InvoiceScenarioPolicy,
  samples: readonly SampleInvoice[] = automaticInvoices,
): InvoiceBatch {
  return {
    batchId: `${token}-batch`,
    tenant: `${token}-tenant`,
    policy: policy.workflow,
    invoices: samples.map((each) => ({
      invoiceKey: invoiceKeyOf(token, each),
      documentId: documentIdOf(token, each),
      revision: 1,
    })),
  };
}

/**
 * Starts the batch. Its documents have to be in the store; the handle's `result` is the end of the story.
 *
 * @throws WorkflowExecutionAlreadyStartedError when the batch was started before, also when it has ended since
 */
export function startBatch(
  client: Client,
  taskQueue: string,
  batch: InvoiceBatch,
): Promise<WorkflowHandle<typeof invoiceBatch>> {
  return client.workflow.start(invoiceBatch, {
    taskQueue,
    workflowId: batchWorkflowId(batch.batchId),
    workflowIdReusePolicy: "REJECT_DUPLICATE",
    workflowTaskTimeout: batch.policy.workflowTaskTimeoutMs,
    args: [batch],
    typedSearchAttributes: [
      { key: caseAttribute, value: invoiceCase },
      { key: tenantAttribute, value: batch.tenant },
      { key: subjectAttribute, value: batch.batchId },
      { key: stateAttribute, value: "processing" },
    ],
  });
}

/**
 * The same invoice with a number of this run's. The number is a business id, and stored content is addressed by its
 * digest alone: without the token in it, nobody could say whose write it was.
 */
export function withOwnNumber(ubl: Uint8Array, token: string): Uint8Array {
  const text = new TextDecoder().decode(ubl);
  const numbered = text.replace(/<cbc:ID>([^<]+)<\/cbc:ID>/, `<cbc:ID>$1-${token}</cbc:ID>`);
  if (numbered === text) throw new Error("the sample has no invoice number to make its own");
  return new TextEncoder().encode(numbered);
}
