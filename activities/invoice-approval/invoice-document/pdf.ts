/**
 * A PDF that carries an invoice: Factur-X and ZUGFeRD as an embedded file, else the text layer in our layout.
 * Scanned pages have neither and are refused; recognising characters in pictures would be a guess about money.
 */
import { getDocumentProxy, extractText } from "unpdf";
import { readCii } from "./cii.js";
import type { ExtractedInvoice } from "./invoice.js";
import { InvalidDocument } from "./invalid-document.js";
import { readPdfLayout } from "./pdf-layout.js";
import { parseXml } from "./xml.js";

/** Names that Factur-X and ZUGFeRD (1.0, 2.x, and its XRechnung profile) give the embedded file. */
const embeddedInvoiceNames = ["factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml"];
/** A text-layer invoice of more pages is a catalogue by mistake; text of every page is held in memory. */
const pagesMax = 50;

export async function readPdf(bytes: Uint8Array): Promise<ExtractedInvoice> {
  const document = await open(bytes);
  try {
    if (document.numPages > pagesMax) {
      throw new InvalidDocument("PDF pages", String(document.numPages), `at most ${pagesMax}`);
    }
    const embedded = await embeddedInvoice(document);
    if (embedded) return readCii(parseXml(embedded));
    const { text } = await extractText(document, { mergePages: false });
    if (text.every((page) => page.trim() === "")) {
      throw new InvalidDocument("PDF text layer", undefined, "text, not only pictures of it");
    }
    return readPdfLayout(text.join("\n"));
  } finally {
    await document.destroy();
  }
}

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

async function open(bytes: Uint8Array): Promise<PdfDocument> {
  try {
    // A copy: the reader detaches the buffer that it is given.
    return await getDocumentProxy(Uint8Array.from(bytes));
  } catch (error) {
    throw new InvalidDocument("document", (error as Error).message, "a readable PDF without a password");
  }
}

async function embeddedInvoice(document: PdfDocument): Promise<Uint8Array | undefined> {
  const attachments = (await document.getAttachments()) as Record<
    string,
    { readonly filename: string; readonly content: Uint8Array }
  > | null;
  return Object.values(attachments ?? {}).find(({ filename }) =>
    embeddedInvoiceNames.includes(filename.toLowerCase()),
  )?.content;
}
