/**
 * OASIS UBL 2.1 `Invoice` to our own shape, in the profile of the European standard EN 16931. Terms like BT-131
 * are that standard's names for the business meaning.
 */
import type { DocumentAdjustment, ExtractedInvoice, InvoiceLine, TaxSubtotal, VatClass } from "./invoice.js";
import { InvalidDocument } from "./invalid-document.js";
import {
  amountMinor,
  currencyCode,
  decimalText,
  isoDate,
  rateBasisPoints,
  totalMinor,
  vatCategory,
  vatIdentifier,
} from "./values.js";
import type { XmlElement } from "./xml.js";

export const ublInvoiceNamespace = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2";

/** UNCL 1001: commercial invoice. A credit note, posted like an invoice, would be paid instead of collected. */
const commercialInvoice = "380";

export function readUbl(root: XmlElement): ExtractedInvoice {
  const type = root.require("InvoiceTypeCode");
  if (type.text !== commercialInvoice) {
    throw new InvalidDocument(type.path, type.text, `${commercialInvoice} (commercial invoice)`);
  }
  const currencyElement = root.require("DocumentCurrencyCode");
  const currency = currencyCode(currencyElement.path, currencyElement.text);
  const issueDate = root.require("IssueDate");
  const lines = root.all("InvoiceLine");
  if (lines.length === 0) throw new InvalidDocument(`${root.path}/InvoiceLine`, undefined, "at least one");
  return {
    schema: "extracted-invoice/1",
    format: "ubl-2.1",
    number: root.require("ID").text,
    issueDate: isoDate(issueDate.path, issueDate.text),
    supplier: supplierOf(root.require("AccountingSupplierParty", "Party")),
    currency,
    lines: lines.map((line) => lineOf(line, currency)),
    adjustments: root.all("AllowanceCharge").map((element) => adjustmentOf(element, currency)),
    taxes: taxesOf(root, currency),
    totals: totalsOf(root, currency),
  };
}

function supplierOf(party: XmlElement): ExtractedInvoice["supplier"] {
  const vatScheme = party
    .all("PartyTaxScheme")
    .find((scheme) => scheme.require("TaxScheme", "ID").text === "VAT");
  if (!vatScheme) {
    throw new InvalidDocument(`${party.path}/PartyTaxScheme`, undefined, "one with TaxScheme/ID VAT (BT-31)");
  }
  const vatId = vatScheme.require("CompanyID");
  return {
    vatId: vatIdentifier(vatId.path, vatId.text),
    name: party.require("PartyLegalEntity", "RegistrationName").text,
  };
}

function lineOf(line: XmlElement, currency: string): InvoiceLine {
  const quantity = line.require("InvoicedQuantity");
  const price = line.require("Price");
  const unitPrice = price.require("PriceAmount");
  requireCurrency(unitPrice, currency);
  const base = price.find("BaseQuantity");
  return {
    id: line.require("ID").text,
    description: line.require("Item", "Name").text,
    quantity: decimalText(quantity.path, quantity.text),
    unitPrice: decimalText(unitPrice.path, unitPrice.text),
    priceBaseQuantity: base ? decimalText(base.path, base.text) : "1",
    adjustmentMinor: totalMinor(
      `${line.path}/AllowanceCharge`,
      line.all("AllowanceCharge").map((item) => signed(item, currency)),
    ),
    netMinor: amount(line.require("LineExtensionAmount"), currency),
    ...vatClassOf(line.require("Item", "ClassifiedTaxCategory")),
  };
}

function adjustmentOf(element: XmlElement, currency: string): DocumentAdjustment {
  return { amountMinor: signed(element, currency), ...vatClassOf(element.require("TaxCategory")) };
}

/** An invoice may carry a second total in the tax office's currency (BT-111); ours is the one in its own currency. */
function taxesOf(root: XmlElement, currency: string): TaxSubtotal[] {
  return taxTotal(root, currency)
    .all("TaxSubtotal")
    .map((subtotal) => ({
      taxableMinor: amount(subtotal.require("TaxableAmount"), currency),
      taxMinor: amount(subtotal.require("TaxAmount"), currency),
      ...vatClassOf(subtotal.require("TaxCategory")),
    }));
}

function taxTotal(root: XmlElement, currency: string): XmlElement {
  const totals = root
    .all("TaxTotal")
    .filter((total) => total.require("TaxAmount").attribute("currencyID") === currency);
  const [total] = totals;
  if (totals.length !== 1 || !total) {
    throw new InvalidDocument(
      `${root.path}/TaxTotal`,
      `${totals.length} in ${currency}`,
      `one in ${currency}`,
    );
  }
  return total;
}

function totalsOf(root: XmlElement, currency: string): ExtractedInvoice["totals"] {
  const totals = root.require("LegalMonetaryTotal");
  const optional = (name: string) => {
    const element = totals.find(name);
    return element ? amount(element, currency) : 0;
  };
  return {
    linesNetMinor: amount(totals.require("LineExtensionAmount"), currency),
    adjustmentsMinor: totalMinor(`${totals.path}/ChargeTotalAmount`, [
      optional("ChargeTotalAmount"),
      0 - optional("AllowanceTotalAmount"),
    ]),
    netMinor: amount(totals.require("TaxExclusiveAmount"), currency),
    taxMinor: amount(taxTotal(root, currency).require("TaxAmount"), currency),
    grossMinor: amount(totals.require("TaxInclusiveAmount"), currency),
    prepaidMinor: optional("PrepaidAmount"),
    roundingMinor: optional("PayableRoundingAmount"),
    payableMinor: amount(totals.require("PayableAmount"), currency),
  };
}

function vatClassOf(category: XmlElement): VatClass {
  const code = category.require("ID");
  const rate = category.find("Percent");
  return {
    vatCategory: vatCategory(code.path, code.text),
    // Only category O (outside the scope of VAT) comes without a rate.
    vatRateBasisPoints: rate ? rateBasisPoints(rate.path, rate.text) : 0,
  };
}

function signed(element: XmlElement, currency: string): number {
  const indicator = element.require("ChargeIndicator");
  const minor = amount(element.require("Amount"), currency);
  if (indicator.text === "true") return minor;
  if (indicator.text === "false") return 0 - minor;
  throw new InvalidDocument(indicator.path, indicator.text, "true or false");
}

function amount(element: XmlElement, currency: string): number {
  requireCurrency(element, currency);
  return amountMinor(element.path, element.text, currency);
}

function requireCurrency(element: XmlElement, currency: string): void {
  const own = element.attribute("currencyID");
  if (own !== currency)
    throw new InvalidDocument(`${element.path}@currencyID`, own, `the document's ${currency}`);
}
