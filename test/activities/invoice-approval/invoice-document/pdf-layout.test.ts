import { expect, test } from "vitest";
import { readPdfLayout } from "../../../../activities/invoice-approval/invoice-document/pdf-layout.js";
import {
  hybridInvoice,
  hybridPdf,
  textLayerLines,
  textLayerPdf,
} from "../../../../scenarios/invoice-approval/make-sample-pdf.js";
import { costOfFourfold } from "../../../support/computing-cost.js";
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

const item = (line: string) => text.replace(/^Item 1:.*$/m, line);

test.each<[string, (times: number) => string]>([
  ["beginnings of an id", (times) => item(`Item ${"a:".repeat(times)}`)],
  ["colons and blanks", (times) => item(`Item ${"a: ".repeat(times)}`)],
  ["bars", (times) => item(`Item 1: ${"a | ".repeat(times)}`)],
  ["whole items in one line", (times) => item(`Item 1: ${"a | 4 x 1 | 20 % | 4 ".repeat(times)}|`)],
  ["blanks", (times) => item(`Item 1:${" ".repeat(times)}|`)],
  ["characters of a rate", (times) => `${text}\nVAT ${"20 ".repeat(times)}`],
  ["per cent", (times) => `${text}\nVAT ${"%".repeat(times)}`],
  ["characters of a VAT identifier", (times) => text.replace("GB480291175", "G1 ".repeat(times))],
  ["digits of an amount", (times) => text.replace("693.50", "1".repeat(times))],
  ["lines", (times) => `${text}${"\r\n".repeat(times)}`],
])("four times as many %s cost about four times as much", (_what, textOf) => {
  expect(costOfFourfold((times) => readPdfLayout(textOf(times)), 20_000)).toBeLessThan(8);
});

test("the committed samples are what the generator makes", async () => {
  expect(textLayerPdf().equals(await sampleFile("cleaning.pdf"))).toBe(true);
  const xml = hybridInvoice(await sampleText("hosting.cii.xml"));
  expect(hybridPdf(xml).equals(await sampleFile("hosting-hybrid.pdf"))).toBe(true);
});
