import { Context } from "@temporalio/activity";
import type { DocumentStore, PayloadStore } from "../ports.js";
import { readInvoice } from "./invoice-document/read-invoice.js";
import type { PayloadNames } from "./ports.js";
import type { Extraction, InvoiceReference } from "./steps.js";

export interface ExtractionDependencies {
  readonly documents: DocumentStore;
  readonly payloads: PayloadStore;
  readonly names: PayloadNames;
}

/**
 * Reads the document and stores what it says. Once saved, the extraction of a document's revision stays: also a
 * newer reader would only be asked for a newer revision, so what was assessed is what is posted.
 *
 * Crash before: nothing is stored; the next attempt reads the document.
 * Crash between the two writes: content without a name is harmless; the next attempt stores the same digest again.
 * Crash after the name is bound: the next attempt finds it and reads no document.
 * Two attempts at once: the first binding wins and both return it.
 */
export function createExtractInvoice({ documents, payloads, names }: ExtractionDependencies) {
  return async function extractInvoice(invoice: InvoiceReference): Promise<Extraction> {
    const name = `invoice-extraction:${invoice.documentId}:r${invoice.revision}`;
    const saved = await names.lookUp(name);
    if (saved !== undefined) return { payloadDigest: saved };
    const document = await documents.fetch(invoice.documentId, Context.current().cancellationSignal);
    const extracted = await readInvoice(document.bytes);
    const digest = await payloads.put("extracted-invoice", extracted);
    return { payloadDigest: await names.bind(name, digest) };
  };
}
