import fc from "fast-check";
import { expect, test } from "vitest";
import { assess } from "../../../activities/invoice-approval/assess.js";
import type { AssessmentRules, KnownSupplier } from "../../../activities/invoice-approval/assessment.js";
import type { ExtractedInvoice } from "../../../activities/invoice-approval/invoice-document/invoice.js";
import { Exact } from "../../../activities/invoice-approval/invoice-document/values.js";
import { readSupplierDirectory } from "../../../adapters/suppliers/file.js";
import { productionPolicy } from "../../../scenarios/invoice-approval/policy.js";
import { readSample } from "../../support/samples.js";

const rules: AssessmentRules = productionPolicy.workflow.assessment;
const directory = await readSupplierDirectory("scenarios/invoice-approval/suppliers.json");
const valid = await readSample("office-supplies.ubl.xml");
const supplier = (await directory.find(valid.supplier.vatId))!;

const judge = (invoice: ExtractedInvoice, known: KnownSupplier | undefined = supplier) =>
  assess(invoice, "digest", known, rules);

const rulesOf = (invoice: ExtractedInvoice) => judge(invoice).findings.map(({ rule }) => rule);

test.each([
  ["office-supplies.ubl.xml", "valid", []],
  ["hosting.cii.xml", "valid", []],
  ["hosting-hybrid.pdf", "valid", []],
  ["cleaning.pdf", "valid", []],
  ["swiss-rounding.ubl.xml", "valid", []],
  ["sum-wrong.ubl.xml", "rejected", ["gross-total"]],
  ["vat-wrong.cii.xml", "rejected", ["vat-amount"]],
  ["currency-unknown.ubl.xml", "rejected", ["currency-supported", "supplier-currency", "review-threshold"]],
  ["supplier-unknown.ubl.xml", "rejected", ["supplier-known"]],
  ["needs-review.ubl.xml", "needs-review", ["review-threshold"]],
  ["two-approvers.ubl.xml", "needs-review", ["review-threshold"]],
])("assesses %s as %s", async (file, check, expected) => {
  const invoice = await readSample(file);
  const assessment = assess(invoice, "digest", await directory.find(invoice.supplier.vatId), rules);
  expect(assessment.check).toBe(check);
  expect(assessment.findings.map(({ rule }) => rule)).toEqual(expected);
});

test("asks for one approval from the threshold on and for two from the higher one on", async () => {
  expect(judge(await readSample("needs-review.ubl.xml")).approvalsNeeded).toBe(1);
  expect(judge(await readSample("two-approvers.ubl.xml")).approvalsNeeded).toBe(2);
  expect(judge(valid).approvalsNeeded).toBe(0);
});

test("the threshold itself needs a review, one minor unit below doesn't", () => {
  const at = { ...rules, reviewFromMinor: valid.totals.grossMinor };
  expect(assess(valid, "digest", supplier, at).check).toBe("needs-review");
  expect(assess(valid, "digest", supplier, { ...at, reviewFromMinor: at.reviewFromMinor + 1 }).check).toBe(
    "valid",
  );
});

test("a known supplier under another name is looked at by a person, however it is spaced and written", () => {
  const named = (name: string) => ({ ...valid, supplier: { ...valid.supplier, name } });
  expect(judge(named("Hafen Papier  GMBH")).check).toBe("valid");
  expect(rulesOf(named("Hafen Papier Inkasso GmbH"))).toEqual(["supplier-name"]);
  expect(judge(named("Hafen Papier Inkasso GmbH")).check).toBe("needs-review");
});

test("a finding says what would be right and what is there", async () => {
  expect(judge(await readSample("sum-wrong.ubl.xml")).findings).toEqual([
    { rule: "gross-total", field: "totals.grossMinor", expected: "18981", actual: "19590" },
  ]);
});

test.each<[string, (invoice: ExtractedInvoice) => ExtractedInvoice, string]>([
  ["a subtotal too few", (i) => ({ ...i, taxes: i.taxes.slice(0, 1) }), "vat-breakdown"],
  ["a subtotal twice", (i) => ({ ...i, taxes: [...i.taxes, i.taxes[0]!] }), "vat-breakdown"],
  [
    "a rate on reverse charge",
    (i) => ({ ...i, lines: i.lines.map((l) => ({ ...l, vatCategory: "AE" })) }),
    "vat-category",
  ],
  [
    "a price for no pieces",
    (i) => ({ ...i, lines: i.lines.map((l) => ({ ...l, priceBaseQuantity: "0" })) }),
    "line-net",
  ],
  ["nothing to pay", (i) => ({ ...i, totals: { ...i.totals, grossMinor: 0 } }), "gross-positive"],
  [
    "a prepayment that isn't deducted",
    (i) => ({ ...i, totals: { ...i.totals, prepaidMinor: 0 } }),
    "payable-total",
  ],
])("rejects %s", (_what, change, rule) => {
  const assessment = judge(change(valid));
  expect(assessment.check).toBe("rejected");
  expect(assessment.findings.map((finding) => finding.rule)).toContain(rule);
});

const changedBy = fc.integer({ min: -1_000_000, max: 1_000_000 }).filter((change) => change !== 0);
const totalNames = Object.keys(valid.totals) as (keyof ExtractedInvoice["totals"])[];

const mutations: Record<string, fc.Arbitrary<ExtractedInvoice>> = {
  "a line's net amount": fc.tuple(fc.nat(valid.lines.length - 1), changedBy).map(([index, change]) => ({
    ...valid,
    lines: valid.lines.map((line, at) =>
      at === index ? { ...line, netMinor: line.netMinor + change } : line,
    ),
  })),
  "a line's quantity": fc
    .tuple(fc.nat(valid.lines.length - 1), fc.integer({ min: 1, max: 9_999 }))
    .map(([index, more]) => ({
      ...valid,
      lines: valid.lines.map((line, at) =>
        at === index ? { ...line, quantity: String(Number(line.quantity) + more) } : line,
      ),
    })),
  "a line's VAT rate": fc
    .tuple(fc.nat(valid.lines.length - 1), fc.integer({ min: 0, max: 10_000 }))
    .filter(([index, rate]) => rate !== valid.lines[index]!.vatRateBasisPoints)
    .map(([index, vatRateBasisPoints]) => ({
      ...valid,
      lines: valid.lines.map((line, at) => (at === index ? { ...line, vatRateBasisPoints } : line)),
    })),
  "an amount of VAT": fc.tuple(fc.nat(valid.taxes.length - 1), changedBy).map(([index, change]) => ({
    ...valid,
    taxes: valid.taxes.map((tax, at) => (at === index ? { ...tax, taxMinor: tax.taxMinor + change } : tax)),
  })),
  "a total": fc.tuple(fc.constantFrom(...totalNames), changedBy).map(([name, change]) => ({
    ...valid,
    totals: { ...valid.totals, [name]: valid.totals[name] + change },
  })),
  "an allowance": changedBy.map((change) => ({
    ...valid,
    adjustments: valid.adjustments.map((each, at) =>
      at === 0 ? { ...each, amountMinor: each.amountMinor + change } : each,
    ),
  })),
  "the currency": fc
    .stringMatching(/^[A-Z]{3}$/)
    .filter((currency) => currency !== valid.currency)
    .map((currency) => ({ ...valid, currency })),
  "the supplier": fc
    .stringMatching(/^[A-Z]{2}[A-Z0-9]{8}$/)
    .filter((vatId) => vatId !== valid.supplier.vatId)
    .map((vatId) => ({ ...valid, supplier: { ...valid.supplier, vatId } })),
};

test.each(Object.entries(mutations))("%s, changed by whatever, is never valid any more", (_what, mutated) => {
  fc.assert(
    fc.property(mutated, (invoice) => {
      const assessment = judge(invoice);
      expect(assessment.check).not.toBe("valid");
      expect(assessment.findings).not.toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("sums that floating-point numbers would round are exact", () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const line = valid.lines[0]!;
  const priced = (netMinor: number) => ({
    ...line,
    quantity: "1",
    priceBaseQuantity: "1",
    adjustmentMinor: 0,
    unitPrice: new Exact(netMinor).dividedBy(100).toFixed(),
    netMinor,
  });
  // 2^53 - 1 + 2 is 2^53 + 1, which no double is: added one by one as doubles, these give 1 and not 2.
  const amounts = [largest, 2, -largest];
  const judged = (linesNetMinor: number) =>
    rulesOf({
      ...valid,
      lines: amounts.map(priced),
      totals: { ...valid.totals, linesNetMinor },
    }).filter((rule) => rule === "lines-total" || rule === "line-net");
  expect(amounts.reduce((sum, amount) => sum + amount, 0)).not.toBe(2);
  expect(judged(2)).toEqual([]);
  expect(judged(1)).toEqual(["lines-total"]);
});

test("a finding names ten VAT classes and counts the rest", () => {
  const lines = Array.from({ length: 40 }, (_, index) => ({
    ...valid.lines[0]!,
    vatRateBasisPoints: index + 1,
  }));
  const taxes = lines.map(({ vatRateBasisPoints }) => ({ ...valid.taxes[0]!, vatRateBasisPoints }));
  const [finding] = judge({ ...valid, lines, taxes: taxes.slice(1) }).findings.filter(
    ({ rule, field }) => rule === "vat-breakdown" && field === "taxes",
  );
  expect(finding).toMatchObject({
    expected: "a subtotal for S 1",
    actual: expect.stringMatching(/S 11 and 29 more$/),
  });
});
