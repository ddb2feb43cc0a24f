import { readFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { parseEvidence } from "../../crash-lab/judge/evidence-line.js";
import { parseCrashReport } from "../../crash-lab/report/crash-report.js";
import { exitCodeOfReport } from "../../crash-lab/report/exit-code.js";
import { reporters, type ReporterName } from "../../crash-lab/report/reporter.js";
import { messageOf, UserFacingError } from "../../platform/index.js";

export interface PrintReportOptions {
  readonly file: string;
  readonly format: string;
  /** The file of evidence that belongs to the report; only the HTML report shows it. */
  readonly evidence?: string;
  readonly stdout: Writable;
}

/**
 * Prints a report made again from its saved JSON.
 *
 * @returns what the lab itself returned for it: 0 fine, 1 a bad verdict, 2 the lab's own fault
 * @throws UserFacingError for an unknown format, or a file that can't be read or is no report
 */
export async function printReport({ file, format, evidence, stdout }: PrintReportOptions): Promise<number> {
  if (!Object.hasOwn(reporters, format))
    throw new UserFacingError(`--format ${format}: allowed are ${Object.keys(reporters).join(", ")}`);
  const report = await read(file, parseCrashReport);
  const lines = evidence === undefined ? [] : await read(evidence, parseEvidence);
  stdout.write(reporters[format as ReporterName](report, lines));
  return exitCodeOfReport(report);
}

async function read<T>(file: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new UserFacingError(`${file}: ${messageOf(error)}`);
  }
}
