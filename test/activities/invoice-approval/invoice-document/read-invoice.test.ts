import { expect, test } from "vitest";
import {
  documentBytesMax,
  readInvoice,
} from "../../../../activities/invoice-approval/invoice-document/read-invoice.js";
import { readSample, readText, sampleText } from "../../../support/samples.js";

const totals = (net: number, tax: number) => ({
  linesNetMinor: net,
  adjustmentsMinor: 0,
  netMinor: net,
  taxMinor: tax,
  grossMinor: net + tax,
  prepaidMinor: 0,
  roundingMinor: 0,
  payableMinor: net + tax,
});

test.each([
  ["office-supplies.ubl.xml", "ubl-2.1", "HP-2026-0117", "2026-03-02", "DE811907980", "EUR", 3],
  ["hosting.cii.xml", "cii", "R-88231", "2026-03-01", "FR40303265045", "EUR", 2],
  ["hosting-hybrid.pdf", "cii", "R-88305", "2026-04-01", "FR40303265045", "EUR", 2],
  ["cleaning.pdf", "pdf-text", "HC-0593", "2026-03-06", "GB480291175", "GBP", 3],
  ["swiss-rounding.ubl.xml", "ubl-2.1", "CH-2026-19", "2026-03-10", "CHE116281710MWST", "CHF", 2],
])("reads the head of %s", async (file, format, number, issueDate, vatId, currency, lines) => {
  const invoice = await readSample(file);
  expect(invoice).toMatchObject({ format, number, issueDate, currency, supplier: { vatId } });
  expect(invoice.lines).toHaveLength(lines);
});

test("reads amounts, a price for a hundred, allowance, charge, two VAT rates and a prepayment from UBL", async () => {
  const invoice = await readSample("office-supplies.ubl.xml");
  expect(invoice.lines[1]).toEqual({
    id: "2",
    description: "Screws, box of mixed sizes",
    quantity: "250",
    unitPrice: "3.1",
    priceBaseQuantity: "100",
    adjustmentMinor: 0,
    netMinor: 775,
    vatCategory: "S",
    vatRateBasisPoints: 1900,
  });
  expect(invoice.adjustments.map(({ amountMinor }) => amountMinor)).toEqual([-1250, 690]);
  expect(
    invoice.taxes.map(({ vatRateBasisPoints, taxableMinor, taxMinor }) => [
      vatRateBasisPoints,
      taxableMinor,
      taxMinor,
    ]),
  ).toEqual([
    [1900, 17_215, 3_271],
    [700, 5_980, 419],
  ]);
  expect(invoice.totals).toEqual({
    linesNetMinor: 23_755,
    adjustmentsMinor: -560,
    netMinor: 23_195,
    taxMinor: 3_690,
    grossMinor: 26_885,
    prepaidMinor: 5_000,
    roundingMinor: 0,
    payableMinor: 21_885,
  });
});

test("reads a price below the currency's smallest unit without rounding it", async () => {
  const { lines, totals: read } = await readSample("hosting.cii.xml");
  expect(lines[1]).toMatchObject({ quantity: "312.5", unitPrice: "0.0375", netMinor: 1_172 });
  expect(read).toEqual(totals(9_572, 1_914));
});

test("reads a text layer", async () => {
  const invoice = await readSample("cleaning.pdf");
  expect(invoice.supplier).toEqual({ vatId: "GB480291175", name: "Harrow Cleaning Ltd" });
  expect(invoice.lines.map(({ vatCategory, netMinor }) => [vatCategory, netMinor])).toEqual([
    ["S", 47_400],
    ["S", 9_600],
    ["Z", 950],
  ]);
  expect(invoice.totals).toEqual(totals(57_950, 11_400));
});

test("reads whole units of a currency without smaller ones", async () => {
  const text = await sampleText("currency-unknown.ubl.xml");
  const yen = text.replaceAll("SEK", "JPY").replaceAll(/>(\d+)\.(00|50)</g, ">$1<");
  const invoice = await readText(yen);
  expect(invoice.lines[0]!.netMinor).toBe(890);
});

test("gives the same for any namespace prefix, and for character references", async () => {
  const text = await sampleText("office-supplies.ubl.xml");
  const renamed = text
    .replaceAll("cbc:", "basic:")
    .replaceAll("xmlns:cbc", "xmlns:basic")
    .replaceAll("ubl:Invoice", "Invoice")
    .replace("xmlns:ubl=", "xmlns=")
    .replace("Hafen Papier", "H&#97;fen Pap&#x69;er");
  expect(await readText(renamed)).toEqual(await readText(text));
});

const ubl = "office-supplies.ubl.xml";
const cii = "hosting.cii.xml";

test.each<[string, string, string | RegExp, string, string]>([
  ["malformed XML", ubl, "</ubl:Invoice>", "", "document"],
  ["a missing number", ubl, /<cbc:ID>HP-2026-0117<\/cbc:ID>/, "", "ubl:Invoice/ID is missing"],
  ["an empty number", ubl, "HP-2026-0117", "", "cbc:ID is missing"],
  [
    "two numbers",
    ubl,
    "<cbc:ID>HP-2026-0117</cbc:ID>",
    "<cbc:ID>1</cbc:ID><cbc:ID>2</cbc:ID>",
    'ID is "2 times"',
  ],
  ["a day that isn't", ubl, "2026-03-02", "2026-02-30", 'IssueDate is "2026-02-30"'],
  ["a credit note", ubl, ">380<", ">381<", 'InvoiceTypeCode is "381"'],
  ["no VAT id", ubl, "DE811907980", "none", 'CompanyID is "none"'],
  [
    "an amount in another currency",
    ubl,
    'currencyID="EUR">170.00',
    'currencyID="USD">170.00',
    'currencyID is "USD"',
  ],
  ["a third decimal", ubl, ">170.00<", ">170.001<", 'LineExtensionAmount is "170.001"'],
  ["a decimal comma", ubl, ">170.00<", ">170,00<", 'LineExtensionAmount is "170,00"'],
  ["an exponent", ubl, ">170.00<", ">17e1<", 'LineExtensionAmount is "17e1"'],
  ["an amount too large to count", ubl, ">170.00<", ">99999999999999999.00<", "LineExtensionAmount"],
  ["a currency that isn't a code", ubl, ">EUR<", ">Euro<", 'DocumentCurrencyCode is "Euro"'],
  ["a rate above a hundred", ubl, "<cbc:Percent>7<", "<cbc:Percent>107<", 'Percent is "107"'],
  ["an indicator that is neither", ubl, ">false<", ">no<", 'ChargeIndicator is "no"'],
  ["another root", ubl, /ubl:Invoice/g, "ubl:Order", "root element"],
  ["another namespace", ubl, "xsd:Invoice-2", "xsd:Invoice-3", "root element"],
  ["an encoding that could hide", ubl, "UTF-8", "UTF-7", 'XML encoding is "UTF-7"'],
  ["an entity", ubl, "<ubl:Invoice", '<!DOCTYPE Invoice [<!ENTITY x "1">]><ubl:Invoice', "<!DOCTYPE"],
  ["an entity of HTML", ubl, "Hafen Papier", "Hafen&nbsp;Papier", 'document is "&nbsp;'],
  ["a character that can't be stored", ubl, "Hafen Papier", "Hafen&#0;Papier", "document is"],
  ["half a character", ubl, "Hafen Papier", "Hafen&#xD800;Papier", "document is"],
  [
    "more text than can be stored",
    ubl,
    "Guide to labour law",
    "x".repeat(1_100_000),
    "characters of content",
  ],
  ["a bare ampersand", ubl, "Hafen Papier", "Hafen & Papier", 'document is "&'],
  [
    "an element inside an amount",
    ubl,
    ">170.00<",
    ">17<cbc:Note/>0.00<",
    'LineExtensionAmount is "<cbc:Note>"; allowed: text without elements in it',
  ],
  ["a reference between two instructions", ubl, "Hafen Papier", "<?a <!-- ?>&nbsp;<?b --> ?>Hafen", "&nbsp;"],
  ["CII: a date in another format", cii, 'format="102"', 'format="203"', '@format is "203"'],
  [
    "CII: no total",
    cii,
    /<ram:GrandTotalAmount>.*<\/ram:GrandTotalAmount>/,
    "",
    "GrandTotalAmount is missing",
  ],
  ["CII: a credit note", cii, ">380<", ">381<", 'TypeCode is "381"'],
  ["CII: VAT total in another currency", cii, 'currencyID="EUR"', 'currencyID="USD"', "TaxTotalAmount"],
])("refuses %s, naming the field and the value", async (_what, file, from, to, message) => {
  const text = await sampleText(file);
  const changed = text.replace(from, to);
  expect(changed, "the change must hit").not.toBe(text);
  await expect(readText(changed)).rejects.toMatchObject({
    name: "InvalidDocument",
    message: expect.stringContaining(message),
  });
});

test("refuses the sample with a document type before anything of it is expanded", async () => {
  await expect(readSample("document-type.xml")).rejects.toThrow('document is "<!DOCTYPE"');
});

test.each([
  ["no text at all", "", "document"],
  ["plain text", "Invoice number: 1", "document"],
  ["a broken PDF", "%PDF-1.7\nnothing of the kind", "document"],
])("refuses %s", async (_what, text, message) => {
  await expect(readText(text)).rejects.toMatchObject({
    name: "InvalidDocument",
    message: expect.stringContaining(message),
  });
});

test("refuses bytes that aren't UTF-8", async () => {
  await expect(readInvoice(Uint8Array.of(0xff, 0xfe, 0x3c, 0x00))).rejects.toThrow("UTF-8");
});

test("refuses a document above the limit without reading it", async () => {
  await expect(readInvoice(new Uint8Array(documentBytesMax + 1))).rejects.toThrow("bytes");
});

test("refuses XML that nests without end", async () => {
  const deep = `${"<a>".repeat(500)}${"</a>".repeat(500)}`;
  await expect(readText(deep)).rejects.toMatchObject({ name: "InvalidDocument" });
});

test("cuts a long value in the message", async () => {
  const text = (await sampleText(ubl)).replace("2026-03-02", "x".repeat(5_000));
  await expect(readText(text)).rejects.toMatchObject({
    message: expect.stringMatching(/^.{1,250}$/),
  });
});
