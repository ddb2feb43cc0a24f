import type { FoundDifference } from "./compare.js";

export interface JudgedCase {
  readonly id: string;
  readonly title: string | undefined;
  readonly script: readonly { op: string }[];
  readonly differences: readonly FoundDifference[];
}

/** Widest a value may be in the table, in characters; the JSON output has all of it. */
const valueWidthMax = 48;

/** A table of all differences with their reasons, and a line that counts. The same input gives the same text. */
export function differenceTable(engine: string, reference: string, cases: readonly JudgedCase[]): string {
  const rows = cases.flatMap((one) => one.differences.map((difference) => rowOf(one, difference)));
  const header = ["case", "call", "place", reference, engine, "", "reason"];
  const table = rows.length === 0 ? "" : `${layOut([header, ...rows])}\n\n`;
  return `${table}${summary(engine, reference, cases)}\n`;
}

function rowOf(one: JudgedCase, difference: FoundDifference): string[] {
  const { step, path, expected, actual, reason, stated } = difference;
  const call = step === undefined ? "all" : `${step + 1} ${one.script[step]?.op ?? "compile"}`;
  return [one.id, call, path, short(expected), short(actual), stated ? "stated" : "DIFFERS", reason ?? ""];
}

function summary(engine: string, reference: string, cases: readonly JudgedCase[]): string {
  const differing = cases.filter(({ differences }) => differences.some(({ stated }) => !stated));
  const stated = cases.filter(
    ({ differences }) => differences.length > 0 && differences.every((one) => one.stated),
  );
  const equal = cases.length - differing.length - stated.length;
  return (
    `${cases.length} cases on ${engine} against ${reference}: ${equal} equal, ` +
    `${stated.length} with stated differences only, ${differing.length} with others` +
    (differing.length > 0 ? ` (${differing.map(({ id }) => id).join(", ")})` : "")
  );
}

function short(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length <= valueWidthMax ? text : `${text.slice(0, valueWidthMax - 1)}…`;
}

function layOut(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
