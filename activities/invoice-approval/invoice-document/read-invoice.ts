import { ciiInvoiceNamespace, readCii } from "./cii.js";
import type { ExtractedInvoice } from "./invoice.js";
import { InvalidDocument } from "./invalid-document.js";
import { readPdf } from "./pdf.js";
import { readUbl, ublInvoiceNamespace } from "./ubl.js";
import { parseXml } from "./xml.js";

/** Real invoices stay under 1 MB; a PDF with pictures may be larger. Above it, memory is at stake for everyone. */
export const documentBytesMax = 5 * 1024 * 1024;

/** What is stored goes through databases and logs; 1 MB holds two thousand lines with long descriptions. */
const extractedCharactersMax = 1_000_000;

/**
 * Reads an invoice. Decides by the content: what a sender calls a file proves nothing.
 *
 * @throws InvalidDocument when the document isn't one complete invoice in a format that we read
 */
export async function readInvoice(bytes: Uint8Array): Promise<ExtractedInvoice> {
  if (bytes.byteLength > documentBytesMax) {
    throw new InvalidDocument("document", `${bytes.byteLength} bytes`, `at most ${documentBytesMax} bytes`);
  }
  const invoice = startsLikePdf(bytes) ? await readPdf(bytes) : readXml(bytes);
  const size = JSON.stringify(invoice).length;
  if (size > extractedCharactersMax) {
    throw new InvalidDocument(
      "document",
      `${size} characters of content`,
      `at most ${extractedCharactersMax}`,
    );
  }
  return invoice;
}

function readXml(bytes: Uint8Array): ExtractedInvoice {
  const root = parseXml(bytes);
  if (root.localName === "Invoice" && root.namespace === ublInvoiceNamespace) return readUbl(root);
  if (root.localName === "CrossIndustryInvoice" && root.namespace === ciiInvoiceNamespace)
    return readCii(root);
  throw new InvalidDocument(
    "root element",
    `{${root.namespace ?? ""}}${root.localName}`,
    "a UBL 2.1 Invoice, a CrossIndustryInvoice or a PDF",
  );
}

function startsLikePdf(bytes: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(0, 5)) === "%PDF-";
}
