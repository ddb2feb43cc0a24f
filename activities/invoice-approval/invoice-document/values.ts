/**
 * From the text of a document to values: amounts, rates, dates, codes. Every function takes the field's name,
 * because the error is for a person who has the document open.
 */
import { Decimal } from "decimal.js";
import { InvalidDocument } from "./invalid-document.js";

/** Exact for every amount that can be a safe integer; the default of 20 digits would round long unit prices. */
export const Exact = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP });

/** Plain decimals only: no exponent, no thousands separator, no decimal comma, which would read as 100 times more. */
const plainDecimal = /^-?\d{1,18}(\.\d{1,12})?$/;

/** @returns the number as written, in its shortest form: `1.50` becomes `1.5`. */
export function decimalText(field: string, text: string): string {
  return decimal(field, text).toFixed();
}

/**
 * @param text major units: `12.50`
 * @returns integer in minor units of the currency
 */
export function amountMinor(field: string, text: string, currency: string): number {
  const digits = minorUnitDigits(currency);
  const minor = decimal(field, text).times(new Exact(10).pow(digits));
  if (!minor.isInteger() || !Number.isSafeInteger(minor.toNumber())) {
    throw new InvalidDocument(field, text, `an amount with at most ${digits} decimals (${currency})`);
  }
  // Adding zero turns -0, which canonical JSON and `toEqual` treat differently, into 0.
  return minor.toNumber() + 0;
}

/**
 * Adds amounts in minor units exactly: as floating-point numbers, large ones that cancel each other can lose a unit on
 * the way, and the sum would look right.
 */
export function sumMinor(amounts: readonly number[]): bigint {
  return amounts.reduce((total, amount) => total + BigInt(amount), 0n);
}

/** @returns the sum as a number; refused when it can't be one exactly */
export function totalMinor(field: string, amounts: readonly number[]): number {
  const total = sumMinor(amounts);
  if (!Number.isSafeInteger(Number(total))) {
    throw new InvalidDocument(
      field,
      String(total),
      `a sum of at most ${Number.MAX_SAFE_INTEGER} minor units`,
    );
  }
  return Number(total);
}

/** @param text percent: `19` or `8.10` */
export function rateBasisPoints(field: string, text: string): number {
  const basisPoints = decimal(field, text).times(100);
  if (!basisPoints.isInteger() || basisPoints.lessThan(0) || basisPoints.greaterThan(10_000)) {
    throw new InvalidDocument(field, text, "a percentage from 0 to 100 with at most 2 decimals");
  }
  return basisPoints.toNumber();
}

export function currencyCode(field: string, text: string): string {
  if (!/^[A-Z]{3}$/.test(text)) throw new InvalidDocument(field, text, "an ISO 4217 code such as EUR");
  return text;
}

/** @returns the date if the calendar has it: 2026-02-30 is refused. */
export function isoDate(field: string, text: string): string {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  if (!date || Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) {
    throw new InvalidDocument(field, text, "a calendar date as YYYY-MM-DD");
  }
  return text;
}

/** @returns the identifier in capitals without blanks, so that one supplier has one spelling. */
export function vatIdentifier(field: string, text: string): string {
  const compact = text.replaceAll(/\s/g, "").toUpperCase();
  if (!/^[A-Z]{2}(?=.*\d)[A-Z0-9+*.-]{2,14}$/.test(compact)) {
    throw new InvalidDocument(field, text, "a VAT identifier with its country prefix, such as DE123456789");
  }
  return compact;
}

export function vatCategory(field: string, text: string): string {
  if (!/^[A-Z]{1,2}$/.test(text))
    throw new InvalidDocument(field, text, "a VAT category code such as S or AE");
  return text;
}

/**
 * The ISO 4217 exponent. ECMA-402 fixes these figures to the standard's, and gives 2 for codes it doesn't know,
 * so an unknown code can be read and be refused by the assessment, where a person sees the whole invoice.
 */
export function minorUnitDigits(currency: string): number {
  return (
    new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2
  );
}

/** Control characters, and halves of characters: they can't be stored, though `&#0;` can smuggle them in. */
const forbiddenCharacters = /(?![\t\n\r])\p{Cc}|\p{Surrogate}/u;

export function plainText(field: string, text: string): string {
  if (forbiddenCharacters.test(text)) {
    throw new InvalidDocument(field, text, "text without control characters");
  }
  return text;
}

function decimal(field: string, text: string): Decimal {
  if (!plainDecimal.test(text)) throw new InvalidDocument(field, text, "a decimal number such as 12.50");
  return new Exact(text);
}
