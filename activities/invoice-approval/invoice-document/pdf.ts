/**
 * A PDF that carries an invoice: Factur-X and ZUGFeRD as an embedded file, else the text layer in our layout.
 * Scanned pages have neither and are refused; recognising characters in pictures would be a guess about money.
 */
import { readCii } from "./cii.js";
import type { ExtractedInvoice } from "./invoice.js";
import { InvalidDocument } from "./invalid-document.js";
import { readPdfApart } from "./pdf-apart.js";
import type { PdfContent } from "./pdf-content.js";
import { readPdfLayout } from "./pdf-layout.js";
import { parseXml } from "./xml.js";

/** @throws InvalidDocument when the PDF carries no invoice, or more than one, or can't be read at a bearable cost */
export async function readPdf(bytes: Uint8Array): Promise<ExtractedInvoice> {
  return invoiceOf(await readPdfApart(bytes));
}

/** @throws InvalidDocument as {@link readPdf} does */
export function invoiceOf(content: PdfContent): ExtractedInvoice {
  switch (content.kind) {
    case "refused":
      throw new InvalidDocument(content.field, content.value, content.allowed);
    case "embedded":
      return readCii(parseXml(Buffer.from(content.xmlBase64, "base64")));
    case "text":
      if (content.pages.every((page) => page.trim() === "")) {
        throw new InvalidDocument("PDF text layer", undefined, "text, not only pictures of it");
      }
      return readPdfLayout(content.pages.join("\n"));
  }
}
