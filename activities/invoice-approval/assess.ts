/**
 * The rules an invoice is judged by: pure, so the same invoice, rules and supplier always give the same assessment,
 * on a retry too.
 *
 * Arithmetic is checked exactly, half a minor unit rounded up, as EN 16931 asks (BR-CO-10 to BR-CO-17). A tolerance
 * would let through small wrong sums for ever; without one, an invoice of a supplier who rounds differently is
 * refused once, visibly.
 */
import type { Decimal } from "decimal.js";
import type { AssessmentRules, Finding, InvoiceAssessment, KnownSupplier, RuleName } from "./assessment.js";
import type { ExtractedInvoice, InvoiceLine, TaxSubtotal, VatClass } from "./invoice-document/invoice.js";
import { Exact, minorUnitDigits, sumMinor } from "./invoice-document/values.js";

/** Rules whose finding a person can overrule. Every other finding makes the invoice wrong in itself. */
const reviewable: ReadonlySet<RuleName> = new Set(["supplier-name", "supplier-currency", "review-threshold"]);

/** VAT categories with a rate above zero (UNCL 5305); all others come with zero. */
const taxedCategories: ReadonlySet<string> = new Set(["S", "L", "M"]);

export function assess(
  invoice: ExtractedInvoice,
  payloadDigest: string,
  supplier: KnownSupplier | undefined,
  rules: AssessmentRules,
): InvoiceAssessment {
  const findings = [
    ...currencyFindings(invoice, rules),
    ...invoice.lines.flatMap((line, index) => lineFindings(line, index, invoice.currency)),
    ...totalFindings(invoice),
    ...vatFindings(invoice),
    ...supplierFindings(invoice, supplier),
    ...thresholdFindings(invoice, rules),
  ];
  const rejected = findings.some(({ rule }) => !reviewable.has(rule));
  const check = rejected ? "rejected" : findings.length > 0 ? "needs-review" : "valid";
  const amountMinor = invoice.totals.grossMinor;
  const approvals = amountMinor >= rules.twoApproversFromMinor ? 2 : 1;
  return {
    check,
    findings,
    payloadDigest,
    currency: invoice.currency,
    amountMinor,
    approvalsNeeded: check === "needs-review" ? approvals : 0,
  };
}

function currencyFindings(invoice: ExtractedInvoice, rules: AssessmentRules): Finding[] {
  const expected = rules.currencies.join(", ");
  return unless(rules.currencies.includes(invoice.currency), {
    rule: "currency-supported",
    field: "currency",
    expected,
    actual: invoice.currency,
  });
}

function lineFindings(line: InvoiceLine, index: number, currency: string): Finding[] {
  const field = `lines[${index}]`;
  const base = new Exact(line.priceBaseQuantity);
  if (base.lessThanOrEqualTo(0)) {
    return [
      {
        rule: "line-net",
        field: `${field}.priceBaseQuantity`,
        expected: "above 0",
        actual: line.priceBaseQuantity,
      },
    ];
  }
  const net = new Exact(line.quantity)
    .times(line.unitPrice)
    .dividedBy(base)
    .times(new Exact(10).pow(minorUnitDigits(currency)))
    .toDecimalPlaces(0)
    .plus(line.adjustmentMinor);
  return [
    ...unequal("line-net", `${field}.netMinor`, wholeOf(net), line.netMinor),
    ...categoryFindings(line, field),
  ];
}

function totalFindings({ lines, adjustments, totals, taxes }: ExtractedInvoice): Finding[] {
  const adjusted = sumMinor(adjustments.map(({ amountMinor }) => amountMinor));
  const net = sumMinor([totals.linesNetMinor, totals.adjustmentsMinor]);
  const gross = sumMinor([totals.netMinor, totals.taxMinor]);
  const payable = sumMinor([totals.grossMinor, -totals.prepaidMinor, totals.roundingMinor]);
  return [
    ...unequal(
      "lines-total",
      "totals.linesNetMinor",
      sumMinor(lines.map(({ netMinor }) => netMinor)),
      totals.linesNetMinor,
    ),
    ...unequal("adjustments-total", "totals.adjustmentsMinor", adjusted, totals.adjustmentsMinor),
    ...unequal("net-total", "totals.netMinor", net, totals.netMinor),
    ...unequal(
      "vat-total",
      "totals.taxMinor",
      sumMinor(taxes.map(({ taxMinor }) => taxMinor)),
      totals.taxMinor,
    ),
    ...unequal("gross-total", "totals.grossMinor", gross, totals.grossMinor),
    ...unequal("payable-total", "totals.payableMinor", payable, totals.payableMinor),
    ...unless(totals.grossMinor > 0, {
      rule: "gross-positive",
      field: "totals.grossMinor",
      expected: "above 0",
      actual: String(totals.grossMinor),
    }),
  ];
}

/** For each VAT class on a line or an adjustment one subtotal, with the right base and the right tax, and no other. */
function vatFindings({ lines, adjustments, taxes }: ExtractedInvoice): Finding[] {
  const bases = new Map<string, bigint>();
  for (const line of lines) add(bases, className(line), line.netMinor);
  for (const adjustment of adjustments) add(bases, className(adjustment), adjustment.amountMinor);
  const named = taxes.map(className);
  const missing = [...bases.keys()].filter((name) => !named.includes(name));
  return [
    ...missing.map((name): Finding => ({
      rule: "vat-breakdown",
      field: "taxes",
      expected: `a subtotal for ${name}`,
      actual: listed(named),
    })),
    ...taxes.flatMap((tax, index) => subtotalFindings(tax, index, bases, named)),
    ...adjustments.flatMap((adjustment, index) => categoryFindings(adjustment, `adjustments[${index}]`)),
  ];
}

function subtotalFindings(
  tax: TaxSubtotal,
  index: number,
  bases: ReadonlyMap<string, bigint>,
  named: readonly string[],
): Finding[] {
  const field = `taxes[${index}]`;
  const name = className(tax);
  if (named.indexOf(name) !== index || !bases.has(name)) {
    const expected = bases.has(name) ? `${name} once` : listed([...bases.keys()]);
    return [{ rule: "vat-breakdown", field, expected, actual: name }];
  }
  const due = new Exact(tax.taxableMinor).times(tax.vatRateBasisPoints).dividedBy(10_000).toDecimalPlaces(0);
  return [
    ...unequal("vat-breakdown", `${field}.taxableMinor`, bases.get(name)!, tax.taxableMinor),
    ...unequal("vat-amount", `${field}.taxMinor`, wholeOf(due), tax.taxMinor),
  ];
}

function categoryFindings(item: VatClass, field: string): Finding[] {
  const taxed = taxedCategories.has(item.vatCategory);
  return unless(taxed === item.vatRateBasisPoints > 0, {
    rule: "vat-category",
    field: `${field}.vatRateBasisPoints`,
    expected: taxed ? `above 0 for category ${item.vatCategory}` : `0 for category ${item.vatCategory}`,
    actual: String(item.vatRateBasisPoints),
  });
}

function supplierFindings(invoice: ExtractedInvoice, supplier: KnownSupplier | undefined): Finding[] {
  if (!supplier || supplier.vatId !== invoice.supplier.vatId) {
    return [
      {
        rule: "supplier-known",
        field: "supplier.vatId",
        expected: "a supplier on file",
        actual: invoice.supplier.vatId,
      },
    ];
  }
  return [
    // A known number under another name is how forged invoices look; so a person compares.
    ...unless(sameName(supplier.name, invoice.supplier.name), {
      rule: "supplier-name",
      field: "supplier.name",
      expected: supplier.name,
      actual: invoice.supplier.name,
    }),
    ...unless(supplier.currencies.includes(invoice.currency), {
      rule: "supplier-currency",
      field: "currency",
      expected: supplier.currencies.join(", "),
      actual: invoice.currency,
    }),
  ];
}

function thresholdFindings(invoice: ExtractedInvoice, rules: AssessmentRules): Finding[] {
  return unless(invoice.totals.grossMinor < rules.reviewFromMinor, {
    rule: "review-threshold",
    field: "totals.grossMinor",
    expected: `below ${rules.reviewFromMinor} without a review`,
    actual: String(invoice.totals.grossMinor),
  });
}

function unequal(rule: RuleName, field: string, expected: bigint, actual: number): Finding[] {
  return unless(expected === BigInt(actual), {
    rule,
    field,
    expected: String(expected),
    actual: String(actual),
  });
}

function unless(holds: boolean, finding: Finding): Finding[] {
  return holds ? [] : [finding];
}

function className({ vatCategory, vatRateBasisPoints }: VatClass): string {
  return `${vatCategory} ${vatRateBasisPoints}`;
}

function sameName(one: string, other: string): boolean {
  const plain = (name: string) => name.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
  return plain(one) === plain(other);
}

function add(sums: Map<string, bigint>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0n) + BigInt(amount));
}

/** A whole number of minor units as one that can't lose any of them. */
function wholeOf(amount: Decimal): bigint {
  return BigInt(amount.toFixed(0));
}

/** Names in a finding are for a person; findings are kept in the workflow's history, whose entries are limited. */
const shownNamesMax = 10;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const left = names.length - shownNamesMax;
  return names.slice(0, shownNamesMax).join(", ") + (left > 0 ? ` and ${left} more` : "");
}
