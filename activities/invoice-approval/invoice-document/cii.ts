/**
 * UN/CEFACT Cross Industry Invoice (D16B) to our own shape: the XML of Factur-X, ZUGFeRD and one syntax of
 * EN 16931. Terms like BT-131 are that standard's names for the business meaning.
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

export const ciiInvoiceNamespace = "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100";

/** UNCL 1001: commercial invoice. A credit note, posted like an invoice, would be paid instead of collected. */
const commercialInvoice = "380";
/** UNTDID 2379: a date written as YYYYMMDD. */
const calendarDateFormat = "102";

export function readCii(root: XmlElement): ExtractedInvoice {
  const document = root.require("ExchangedDocument");
  const type = document.require("TypeCode");
  if (type.text !== commercialInvoice) {
    throw new InvalidDocument(type.path, type.text, `${commercialInvoice} (commercial invoice)`);
  }
  const transaction = root.require("SupplyChainTradeTransaction");
  const settlement = transaction.require("ApplicableHeaderTradeSettlement");
  const currencyElement = settlement.require("InvoiceCurrencyCode");
  const currency = currencyCode(currencyElement.path, currencyElement.text);
  const lines = transaction.all("IncludedSupplyChainTradeLineItem");
  if (lines.length === 0) {
    throw new InvalidDocument(
      `${transaction.path}/IncludedSupplyChainTradeLineItem`,
      undefined,
      "at least one",
    );
  }
  return {
    schema: "extracted-invoice/1",
    format: "cii",
    number: document.require("ID").text,
    issueDate: dateOf(document.require("IssueDateTime", "DateTimeString")),
    supplier: supplierOf(transaction.require("ApplicableHeaderTradeAgreement", "SellerTradeParty")),
    currency,
    lines: lines.map((line) => lineOf(line, currency)),
    adjustments: settlement
      .all("SpecifiedTradeAllowanceCharge")
      .map((element) => adjustmentOf(element, currency)),
    taxes: settlement.all("ApplicableTradeTax").map((tax) => taxOf(tax, currency)),
    totals: totalsOf(settlement.require("SpecifiedTradeSettlementHeaderMonetarySummation"), currency),
  };
}

function dateOf(element: XmlElement): string {
  const format = element.attribute("format");
  if (format !== calendarDateFormat) {
    throw new InvalidDocument(`${element.path}@format`, format, `${calendarDateFormat} (YYYYMMDD)`);
  }
  return isoDate(element.path, element.text.replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3"));
}

function supplierOf(seller: XmlElement): ExtractedInvoice["supplier"] {
  const vatId = seller
    .all("SpecifiedTaxRegistration")
    .map((registration) => registration.require("ID"))
    .find((id) => id.attribute("schemeID") === "VA");
  if (!vatId) {
    throw new InvalidDocument(
      `${seller.path}/SpecifiedTaxRegistration`,
      undefined,
      "one with ID@schemeID VA (BT-31)",
    );
  }
  return { vatId: vatIdentifier(vatId.path, vatId.text), name: seller.require("Name").text };
}

function lineOf(line: XmlElement, currency: string): InvoiceLine {
  const quantity = line.require("SpecifiedLineTradeDelivery", "BilledQuantity");
  const price = line.require("SpecifiedLineTradeAgreement", "NetPriceProductTradePrice");
  const unitPrice = price.require("ChargeAmount");
  const base = price.find("BasisQuantity");
  const settlement = line.require("SpecifiedLineTradeSettlement");
  const net = settlement.require("SpecifiedTradeSettlementLineMonetarySummation", "LineTotalAmount");
  return {
    id: line.require("AssociatedDocumentLineDocument", "LineID").text,
    description: line.require("SpecifiedTradeProduct", "Name").text,
    quantity: decimalText(quantity.path, quantity.text),
    unitPrice: decimalText(unitPrice.path, unitPrice.text),
    priceBaseQuantity: base ? decimalText(base.path, base.text) : "1",
    adjustmentMinor: totalMinor(
      `${settlement.path}/SpecifiedTradeAllowanceCharge`,
      settlement.all("SpecifiedTradeAllowanceCharge").map((item) => signed(item, currency)),
    ),
    netMinor: amount(net, currency),
    ...vatClassOf(settlement.require("ApplicableTradeTax")),
  };
}

function adjustmentOf(element: XmlElement, currency: string): DocumentAdjustment {
  return { amountMinor: signed(element, currency), ...vatClassOf(element.require("CategoryTradeTax")) };
}

function taxOf(tax: XmlElement, currency: string): TaxSubtotal {
  return {
    taxableMinor: amount(tax.require("BasisAmount"), currency),
    taxMinor: amount(tax.require("CalculatedAmount"), currency),
    ...vatClassOf(tax),
  };
}

function totalsOf(totals: XmlElement, currency: string): ExtractedInvoice["totals"] {
  const optional = (name: string) => {
    const element = totals.find(name);
    return element ? amount(element, currency) : 0;
  };
  return {
    linesNetMinor: amount(totals.require("LineTotalAmount"), currency),
    adjustmentsMinor: totalMinor(`${totals.path}/ChargeTotalAmount`, [
      optional("ChargeTotalAmount"),
      0 - optional("AllowanceTotalAmount"),
    ]),
    netMinor: amount(totals.require("TaxBasisTotalAmount"), currency),
    taxMinor: taxTotalOf(totals, currency),
    grossMinor: amount(totals.require("GrandTotalAmount"), currency),
    prepaidMinor: optional("TotalPrepaidAmount"),
    roundingMinor: optional("RoundingAmount"),
    payableMinor: amount(totals.require("DuePayableAmount"), currency),
  };
}

/** The only amount that names its currency, because it may stand there again in the tax office's (BT-111). */
function taxTotalOf(totals: XmlElement, currency: string): number {
  const own = totals.all("TaxTotalAmount").filter((total) => total.attribute("currencyID") === currency);
  const [total] = own;
  if (own.length !== 1 || !total) {
    throw new InvalidDocument(
      `${totals.path}/TaxTotalAmount`,
      `${own.length} in ${currency}`,
      `one in ${currency}`,
    );
  }
  return amount(total, currency);
}

function vatClassOf(tax: XmlElement): VatClass {
  const code = tax.require("CategoryCode");
  const rate = tax.find("RateApplicablePercent");
  return {
    vatCategory: vatCategory(code.path, code.text),
    // Only category O (outside the scope of VAT) comes without a rate.
    vatRateBasisPoints: rate ? rateBasisPoints(rate.path, rate.text) : 0,
  };
}

function signed(element: XmlElement, currency: string): number {
  const indicator = element.require("ChargeIndicator", "Indicator");
  const minor = amount(element.require("ActualAmount"), currency);
  if (indicator.text === "true") return minor;
  if (indicator.text === "false") return 0 - minor;
  throw new InvalidDocument(indicator.path, indicator.text, "true or false");
}

function amount(element: XmlElement, currency: string): number {
  const own = element.attribute("currencyID");
  if (own !== undefined && own !== currency) {
    throw new InvalidDocument(`${element.path}@currencyID`, own, `the document's ${currency}`);
  }
  return amountMinor(element.path, element.text, currency);
}
