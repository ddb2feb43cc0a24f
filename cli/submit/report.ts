/** What is told of a run: pure, from what is known at its end. */
import { z } from "zod";
import type { InvoiceOutcomeView } from "./api-client.js";
import type { PageStanding, Stop } from "./hand-in.js";
import type { Page } from "./pages.js";

export interface PageReport extends Page {
  readonly state: PageStanding;
}

export interface SubmitReport {
  readonly url: string;
  readonly folder: string;
  readonly pages: readonly PageReport[];
  /** Names that are no invoice by their extension. */
  readonly leftOut: readonly string[];
  /** Why the rest was left; absent when all was handed in. */
  readonly stop?: Stop;
}

/**
 * 0: everything was handed in, and what has ended was posted. 1: the API refused something, or an invoice ended
 * otherwise. 2: not everything could be handed in or, where that was asked for, waited for.
 */
export function exitCodeOf({ pages, stop }: SubmitReport): 0 | 1 | 2 {
  if (stop?.kind === "failed") return 2;
  if (stop !== undefined) return 1;
  const bad = pages.some(
    ({ state }) =>
      state.standing !== "handed-in" ||
      state.state === "failed" ||
      state.state === "parked" ||
      (state.outcomes ?? []).some(({ outcome }) => outcome !== "posted"),
  );
  return bad ? 1 : 0;
}

/** One invoice of a page with what became of it. */
interface InvoiceLine {
  readonly file: string;
  readonly invoiceKey: string;
  readonly revision: number;
  readonly sha256: string;
  /** `open` when the batch was handed in and the invoice's end isn't known. */
  readonly outcome: string;
  /** Everything that the API says of the end; `null` while there is none. */
  readonly result: InvoiceOutcomeView | null;
}

function invoiceLines({ files, revision, state }: PageReport): readonly InvoiceLine[] {
  const ends = state.standing === "handed-in" ? (state.outcomes ?? []) : [];
  return files.map(({ name, invoiceKey, sha256 }) => {
    const result = ends.find((end) => end.invoiceKey === invoiceKey) ?? null;
    const outcome = state.standing === "handed-in" ? (result?.outcome ?? "open") : state.standing;
    return { file: name, invoiceKey, revision, sha256, outcome, result };
  });
}

/** One document with everything, for machines. */
export function jsonReport(report: SubmitReport): string {
  const batches = report.pages.map((page) => {
    const { state } = page;
    return {
      idempotencyKey: page.idempotencyKey,
      standing: state.standing,
      ...(state.standing === "handed-in"
        ? { batchId: state.batchId, state: state.state, statusUrl: new URL(state.statusUrl, report.url).href }
        : {}),
      ...(state.standing === "refused"
        ? { problem: { status: state.status, name: state.name, detail: state.detail } }
        : {}),
      invoices: invoiceLines(page),
    };
  });
  const { url, folder, leftOut, stop } = report;
  const document = { url, folder, exitCode: exitCodeOf(report), stop: stop ?? null, batches, leftOut };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The same for people. */
export function textReport(report: SubmitReport): string {
  const { pages, leftOut, stop, url } = report;
  const lines: string[] = [];
  for (const [index, page] of pages.entries()) {
    lines.push(`Batch ${index + 1} of ${pages.length}: ${standingText(page.state, url)}`);
    for (const { outcome, file, result } of invoiceLines(page)) {
      lines.push(`  ${outcome.padEnd(outcomeWidth)} ${file}${reasonOf(result)}`);
    }
  }
  if (leftOut.length > 0) lines.push(`Left out, as neither .xml nor .pdf: ${leftOut.join(", ")}`);
  const handedIn = pages.filter(({ state }) => state.standing === "handed-in").length;
  lines.push(`${handedIn} of ${pages.length} batches handed in.`);
  if (stop !== undefined) {
    lines.push(
      stop.reason,
      "The same command again goes on where this one stopped; nothing is handed in twice.",
    );
  }
  return `${lines.join("\n")}\n`;
}

/** The longest outcome that the process has: `failed-visibly`. */
const outcomeWidth = 14;

function standingText(state: PageStanding, url: string): string {
  switch (state.standing) {
    case "handed-in":
      return `${state.state}, ${new URL(state.statusUrl, url).href}`;
    case "refused":
      return `refused with ${state.status} ${state.name}: ${state.detail}`;
    case "not-handed-in":
      return "not handed in";
  }
}

const findingSchema = z.object({
  rule: z.string(),
  field: z.string(),
  actual: z.string(),
  expected: z.string(),
});

/** In one line, what the API says of an end that isn't a posting, and the entry of one that is. */
function reasonOf(result: InvoiceOutcomeView | null): string {
  if (result === null) return "";
  const text = (field: string) => (typeof result[field] === "string" ? String(result[field]) : undefined);
  switch (result.outcome) {
    case "posted":
      return `  ${text("entryReference") ?? ""}`;
    case "rejected":
      return `  ${text("rejectedBy") === undefined ? findingsOf(result) : `by ${text("rejectedBy")!}`}`;
    case "duplicate":
      return `  of ${text("duplicateOf") ?? "another"}`;
    case "expired":
      return `  ${text("reviewId") ?? ""}`;
    default:
      return `  ${[text("type"), text("message")].filter((part) => part !== undefined).join(": ")}`;
  }
}

function findingsOf({ findings }: InvoiceOutcomeView): string {
  const known = z.array(findingSchema).safeParse(findings);
  // A newer API may say it in another way; better its own words than none.
  if (!known.success) return JSON.stringify(findings ?? null);
  return known.data
    .map(({ rule, field, actual, expected }) => `${rule}: ${field} is ${actual}, should be ${expected}`)
    .join("; ");
}
