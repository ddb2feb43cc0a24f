/** What the PDF process hands back, and the limits that both sides keep. */

/** What of a PDF can be an invoice: the embedded one if there is one, else the text of each page. */
export type PdfContent =
  | { readonly kind: "embedded"; readonly xmlBase64: string }
  | { readonly kind: "text"; readonly pages: readonly string[] }
  | { readonly kind: "refused"; readonly field: string; readonly value?: string; readonly allowed: string };

/** A text-layer invoice of more pages is a catalogue by mistake; text of every page is held in memory. */
export const pagesMax = 50;
/** As much as may be stored of an invoice. The text of an invoice's page has some three thousand characters. */
export const textCharactersMax = 1_000_000;
/** The same as for a document that comes as XML. */
export const embeddedBytesMax = 5 * 1024 * 1024;

/** Names that Factur-X and ZUGFeRD (1.0, 2.x, and its XRechnung profile) give the embedded file. */
export const embeddedInvoiceNames: readonly string[] = [
  "factur-x.xml",
  "zugferd-invoice.xml",
  "xrechnung.xml",
];

/** What the guard writes before it ends the process, so that the end can be told from one by anybody else. */
export const guardReasons = {
  memory: "pdf-guard: too much memory",
  computing: "pdf-guard: too much computing time",
  abandoned: "pdf-guard: abandoned",
} as const;
