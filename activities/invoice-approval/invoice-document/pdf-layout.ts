/**
 * The one layout of a PDF's text that we read: a labelled field a line, then one line an item.
 *
 *     Invoice number: 2026-0117
 *     Issue date: 2026-03-02
 *     Supplier: Hafen Papier GmbH
 *     VAT ID: DE811907980
 *     Currency: EUR
 *     Item 1: Copy paper A4 | 40 x 4.25 | 19 % | 170.00
 *     VAT 19 %: 170.00 | 32.30
 *     Net total: 170.00
 *     VAT total: 32.30
 *     Gross total: 202.30
 *
 * Other lines (addresses, greetings) are ignored, unless they start with a label of ours and aren't understood: then
 * reading on would drop an item from the sum. A PDF in another layout is an `InvalidDocument`, never a guess.
 */
import type { ExtractedInvoice, InvoiceLine, TaxSubtotal } from "./invoice.js";
import { InvalidDocument } from "./invalid-document.js";
import {
  amountMinor,
  currencyCode,
  decimalText,
  isoDate,
  plainText,
  rateBasisPoints,
  totalMinor,
  vatIdentifier,
} from "./values.js";

const itemBegin = /^Item\b/;
const itemPattern =
  /^Item (?<id>\S+): (?<description>.+?) \| (?<quantity>\S+) x (?<unitPrice>\S+) \| (?<rate>\S+) % \| (?<net>\S+)$/;
const vatBegin = /^VAT \S+ ?%/;
const vatPattern = /^VAT (?<rate>\S+) %: (?<taxable>\S+) \| (?<tax>\S+)$/;
const linesMax = 2_000;

export function readPdfLayout(text: string): ExtractedInvoice {
  const lines = plainText("PDF text", text)
    .split(/\r?\n/)
    .map((line) => line.replaceAll(/\s+/g, " ").trim());
  if (lines.length > linesMax)
    throw new InvalidDocument("PDF text", `${lines.length} lines`, `at most ${linesMax}`);
  const field = (label: string) => labelled(lines, label);
  const currency = currencyCode("Currency", field("Currency"));
  const money = (label: string) => amountMinor(label, field(label), currency);
  const items = matching(lines, "Item", itemBegin, itemPattern).map((groups) => itemOf(groups, currency));
  if (items.length === 0) throw new InvalidDocument("Item", undefined, "at least one");
  return {
    schema: "extracted-invoice/1",
    format: "pdf-text",
    number: field("Invoice number"),
    issueDate: isoDate("Issue date", field("Issue date")),
    supplier: { vatId: vatIdentifier("VAT ID", field("VAT ID")), name: field("Supplier") },
    currency,
    lines: items,
    adjustments: [],
    taxes: matching(lines, "VAT", vatBegin, vatPattern).map((groups) => taxOf(groups, currency)),
    totals: {
      linesNetMinor: totalMinor(
        "Item",
        items.map(({ netMinor }) => netMinor),
      ),
      adjustmentsMinor: 0,
      netMinor: money("Net total"),
      taxMinor: money("VAT total"),
      grossMinor: money("Gross total"),
      prepaidMinor: 0,
      roundingMinor: 0,
      payableMinor: money("Gross total"),
    },
  };
}

function labelled(lines: readonly string[], label: string): string {
  const found = lines.filter((line) => line.startsWith(`${label}:`));
  const [line] = found;
  if (line === undefined) throw new InvalidDocument(label, undefined, `a line "${label}: …"`);
  if (found.length > 1) throw new InvalidDocument(label, `${found.length} times`, "once");
  const value = line.slice(label.length + 1).trim();
  if (value === "") throw new InvalidDocument(label, undefined, "some text");
  return value;
}

type Groups = Readonly<Record<string, string>>;

function matching(lines: readonly string[], label: string, begin: RegExp, pattern: RegExp): Groups[] {
  return lines
    .filter((line) => begin.test(line))
    .map((line) => {
      const groups = pattern.exec(line)?.groups;
      if (!groups) throw new InvalidDocument(label, line, "the layout in the documentation");
      return groups as Groups;
    });
}

/** Plain text names no category; a rate of zero is taken as zero-rated. */
function categoryFor(rate: number): string {
  return rate === 0 ? "Z" : "S";
}

function itemOf(groups: Groups, currency: string): InvoiceLine {
  const field = `Item ${groups["id"]}`;
  const rate = rateBasisPoints(`${field}: VAT rate`, groups["rate"]!);
  return {
    id: groups["id"]!,
    description: groups["description"]!,
    quantity: decimalText(`${field}: quantity`, groups["quantity"]!),
    unitPrice: decimalText(`${field}: unit price`, groups["unitPrice"]!),
    priceBaseQuantity: "1",
    adjustmentMinor: 0,
    netMinor: amountMinor(`${field}: net`, groups["net"]!, currency),
    vatCategory: categoryFor(rate),
    vatRateBasisPoints: rate,
  };
}

function taxOf(groups: Groups, currency: string): TaxSubtotal {
  const field = `VAT ${groups["rate"]} %`;
  const rate = rateBasisPoints(field, groups["rate"]!);
  return {
    vatCategory: categoryFor(rate),
    vatRateBasisPoints: rate,
    taxableMinor: amountMinor(`${field}: taxable`, groups["taxable"]!, currency),
    taxMinor: amountMinor(`${field}: tax`, groups["tax"]!, currency),
  };
}
