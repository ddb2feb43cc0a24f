import { expect, test } from "vitest";
import { readPdfLayout } from "../../../../activities/invoice-approval/invoice-document/pdf-layout.js";
import {
  hybridInvoice,
  hybridPdf,
  textLayerLines,
  textLayerPdf,
} from "../../../../scenarios/invoice-approval/make-sample-pdf.js";
import { sampleFile, sampleText } from "../../../support/samples.js";

const text = textLayerLines.join("\n");

test.each([
  ["an item in another form", "| 4 x 118.50 |", "| 4 pieces |", "Item"],
  ["a VAT line in another form", "VAT 20 %: 570.00 | 114.00", "VAT 20 %: 114.00", "VAT"],
  ["a field twice", "Currency: GBP", "Currency: GBP\nCurrency: EUR", 'Currency is "2 times"'],
  ["an empty field", "Supplier: Harrow Cleaning Ltd", "Supplier:", "Supplier is missing"],
  ["a missing field", "Gross total: 693.50", "", "Gross total is missing"],
])("refuses %s instead of reading past it", (_what, from, to, message) => {
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  expect(() => readPdfLayout(changed)).toThrow(message);
});

test("refuses a text without items", () => {
  expect(() => readPdfLayout(text.replaceAll(/^Item .*$/gm, ""))).toThrow("Item is missing");
});

test("the committed samples are what the generator makes", async () => {
  expect(textLayerPdf().equals(await sampleFile("cleaning.pdf"))).toBe(true);
  const xml = hybridInvoice(await sampleText("hosting.cii.xml"));
  expect(hybridPdf(xml).equals(await sampleFile("hosting-hybrid.pdf"))).toBe(true);
});
