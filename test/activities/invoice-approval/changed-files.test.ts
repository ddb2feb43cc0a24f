/**
 * The files themselves, changed in one place: whatever line amount, VAT rate, currency or supplier another file says,
 * it isn't assessed as the original was. Each change keeps the length, so that a PDF stays one.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assess } from "../../../activities/invoice-approval/assess.js";
import { InvalidDocument } from "../../../activities/invoice-approval/invoice-document/invalid-document.js";
import { invoiceOf } from "../../../activities/invoice-approval/invoice-document/pdf.js";
import { readPdfContent } from "../../../activities/invoice-approval/invoice-document/pdf-reader.js";
import { readInvoice } from "../../../activities/invoice-approval/invoice-document/read-invoice.js";
import { readSupplierDirectory } from "../../../adapters/suppliers/file.js";
import { productionPolicy } from "../../../scenarios/invoice-approval/policy.js";
import { sampleFile } from "../../support/samples.js";

const rules = productionPolicy.workflow.assessment;
const directory = await readSupplierDirectory("scenarios/invoice-approval/suppliers.json");

type Field = "line amount" | "VAT rate" | "currency" | "supplier";

/** Where each format says it; the group is what is changed. */
const patterns: Readonly<Record<string, Readonly<Record<Field, RegExp>>>> = {
  ubl: {
    "line amount": /(?<=<cac:InvoiceLine>[^]*?)<cbc:LineExtensionAmount currencyID="\w+">([\d.]+)/g,
    "VAT rate": /<cbc:Percent>([\d.]+)/g,
    currency: /<cbc:DocumentCurrencyCode>([A-Z]{3})|currencyID="([A-Z]{3})"/g,
    supplier: /<cac:AccountingSupplierParty>[^]*?<cbc:CompanyID>(\w+)/g,
  },
  cii: {
    "line amount": /<ram:SpecifiedTradeSettlementLineMonetarySummation>\s*<ram:LineTotalAmount>([\d.]+)/g,
    "VAT rate": /<ram:RateApplicablePercent>([\d.]+)/g,
    currency: /<ram:InvoiceCurrencyCode>([A-Z]{3})|currencyID="([A-Z]{3})"/g,
    supplier: /<ram:SellerTradeParty>[^]*?<ram:ID schemeID="VA">(\w+)/g,
  },
  pdf: {
    "line amount": /\(Item [^)]*\| ([\d.]+)\) Tj/g,
    "VAT rate": /\((?:Item [^)]*\| |VAT )(\d+) %/g,
    currency: /\(Currency: ([A-Z]{3})\)/g,
    supplier: /\(VAT ID: (\w+)\)/g,
  },
};

const files: readonly (readonly [string, keyof typeof patterns])[] = [
  ["office-supplies.ubl.xml", "ubl"],
  ["needs-review.ubl.xml", "ubl"],
  ["swiss-rounding.ubl.xml", "ubl"],
  ["hosting.cii.xml", "cii"],
  ["hosting-hybrid.pdf", "cii"],
  ["cleaning.pdf", "pdf"],
];

interface Place {
  readonly at: number;
  readonly text: string;
}

/** Latin-1 gives one character for each byte, so places in the text are places in the file. */
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

function placesOf(text: string, pattern: RegExp): Place[] {
  return [...text.matchAll(pattern)].map((match) => {
    const found = match.slice(1).find((group) => group !== undefined)!;
    return { at: match.index + match[0].lastIndexOf(found), text: found };
  });
}

function withText(text: string, places: readonly Place[], replacement: string): Buffer {
  let changed = text;
  for (const place of places) {
    changed = changed.slice(0, place.at) + replacement + changed.slice(place.at + place.text.length);
  }
  return Buffer.from(changed, "latin1");
}

/** A process for each of hundreds of changed PDFs would take minutes; what it does with the PDF is done here instead. */
async function readHere(bytes: Buffer) {
  const isPdf = bytes.subarray(0, 5).toString("latin1") === "%PDF-";
  return isPdf ? invoiceOf(await readPdfContent(bytes)) : readInvoice(bytes);
}

/** Without the digest, which differs for any change at all. */
async function verdictOn(bytes: Buffer) {
  try {
    const invoice = await readHere(bytes);
    const { payloadDigest: _any, ...assessment } = assess(
      invoice,
      "digest",
      await directory.find(invoice.supplier.vatId),
      rules,
    );
    return assessment;
  } catch (error) {
    if (error instanceof InvalidDocument) return { check: "unreadable", why: error.message };
    throw error;
  }
}

/** Reading a PDF takes some ten times as long. */
const runsOf = (file: string) => (file.endsWith(".pdf") ? 40 : 150);

/** Digits for digits and capitals for capitals, so that it stays a value of its kind. */
const otherText = ({ text }: Place, same: (other: string) => boolean): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...[...text].map((character) =>
        /\d/.test(character)
          ? fc.constantFrom(..."0123456789")
          : /[A-Z]/.test(character)
            ? fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            : fc.constant(character),
      ),
    )
    .map((characters) => characters.join(""))
    .filter((other) => !same(other));

describe.each(files)("%s", async (file, format) => {
  const bytes = await sampleFile(file);
  const text = textOf(bytes);
  const original = await verdictOn(bytes);

  test("is read as it is", () => expect(["valid", "needs-review"]).toContain(original.check));

  test.each(["line amount", "VAT rate", "supplier"] as const)(
    "another %s, in any one place, changes the assessment and is never valid",
    async (field) => {
      const places = placesOf(text, patterns[format]![field]);
      expect(places.length).toBeGreaterThan(0);
      const changed = fc.constantFrom(...places).chain((place) => {
        const isSame = (other: string) =>
          field === "supplier" ? other === place.text : Number(other) === Number(place.text);
        return otherText(place, isSame).map((other) => ({ place, other }));
      });
      await fc.assert(
        fc.asyncProperty(changed, async ({ place, other }) => {
          const verdict = await verdictOn(withText(text, [place], other));
          expect(verdict).not.toEqual(original);
          expect(verdict.check).not.toBe("valid");
        }),
        { numRuns: runsOf(file) },
      );
    },
  );

  test("another currency, in one place or in all, changes the assessment", async () => {
    const places = placesOf(text, patterns[format]!.currency);
    expect(places.length).toBeGreaterThan(0);
    const changed = fc
      .record({
        which: fc.constantFrom(...places.map((place) => [place]), places),
        other: fc.stringMatching(/^[A-Z]{3}$/),
      })
      .filter(({ which, other }) => other !== which[0]!.text);
    await fc.assert(
      fc.asyncProperty(changed, async ({ which, other }) => {
        expect(await verdictOn(withText(text, which, other))).not.toEqual(original);
      }),
      { numRuns: runsOf(file) },
    );
  });
});

test("another supplier on file under the same name is looked at by a person", async () => {
  const text = textOf(await sampleFile("office-supplies.ubl.xml"));
  const forged = Buffer.from(text.replace("DE811907980", "GB480291175"), "latin1");
  expect(await verdictOn(forged)).toMatchObject({
    check: "needs-review",
    findings: [{ rule: "supplier-name" }, { rule: "supplier-currency" }],
  });
});
