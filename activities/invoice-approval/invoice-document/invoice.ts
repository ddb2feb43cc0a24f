/**
 * An invoice as it was read from a document: what the document says, not yet what we think of it.
 *
 * Amounts are integers in minor units of `currency` (cents for EUR, whole yen for JPY) and may be negative. Only
 * quantities and unit prices are decimal strings, because the invoice standards allow them more digits than the
 * currency has (0.0375 EUR for one kilowatt hour). Rates are basis points: 1900 is 19 %.
 *
 * The value is stored by its digest and posted from there, so a change of this shape needs a new `schema`.
 */
export type ExtractedInvoice = {
  readonly schema: "extracted-invoice/1";
  readonly format: DocumentFormat;
  readonly number: string;
  /** ISO 8601 calendar date, without a time zone: the day printed on the invoice. */
  readonly issueDate: string;
  readonly supplier: Supplier;
  /** ISO 4217 code as written, known to us or not. */
  readonly currency: string;
  readonly lines: readonly InvoiceLine[];
  /** Allowances (negative) and charges (positive) on the whole document. */
  readonly adjustments: readonly DocumentAdjustment[];
  readonly taxes: readonly TaxSubtotal[];
  readonly totals: InvoiceTotals;
};

export type DocumentFormat = "ubl-2.1" | "cii" | "pdf-text";

export type Supplier = {
  /** VAT identifier with its country prefix, without spaces: what the supplier is known by. */
  readonly vatId: string;
  readonly name: string;
};

/** Which VAT rule applies: a code of UNCL 5305, such as `S` (standard rate) or `AE` (reverse charge). */
export type VatClass = {
  readonly vatCategory: string;
  readonly vatRateBasisPoints: number;
};

export type InvoiceLine = VatClass & {
  readonly id: string;
  readonly description: string;
  /** Decimal string. */
  readonly quantity: string;
  /** Decimal string in major units, for `priceBaseQuantity` pieces. */
  readonly unitPrice: string;
  /** Decimal string, `1` unless the document says that the price is for more pieces. */
  readonly priceBaseQuantity: string;
  /** Charges minus allowances of this line. */
  readonly adjustmentMinor: number;
  readonly netMinor: number;
};

export type DocumentAdjustment = VatClass & { readonly amountMinor: number };

export type TaxSubtotal = VatClass & {
  readonly taxableMinor: number;
  readonly taxMinor: number;
};

export type InvoiceTotals = {
  readonly linesNetMinor: number;
  readonly adjustmentsMinor: number;
  readonly netMinor: number;
  readonly taxMinor: number;
  readonly grossMinor: number;
  readonly prepaidMinor: number;
  readonly roundingMinor: number;
  readonly payableMinor: number;
};
