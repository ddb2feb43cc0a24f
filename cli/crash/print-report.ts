import { readFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { parseCrashReport } from "../../crash-lab/report/crash-report.js";
import { exitCodeOfReport, reporters, type ReporterName } from "../../crash-lab/report/reporter.js";
import { messageOf, UserFacingError } from "../../platform/index.js";

export interface PrintReportOptions {
  readonly file: string;
  readonly format: string;
  readonly stdout: Writable;
}

/**
 * Prints a report made again from its saved JSON.
 *
 * @returns what the lab itself returned for it: 0 fine, 1 a bad verdict, 2 the lab's own fault
 * @throws UserFacingError for an unknown format, or a file that can't be read or is no report
 */
export async function printReport({ file, format, stdout }: PrintReportOptions): Promise<number> {
  if (!Object.hasOwn(reporters, format))
    throw new UserFacingError(`--format ${format}: allowed are ${Object.keys(reporters).join(", ")}`);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UserFacingError(`${file}: ${messageOf(error)}`);
  });
  const report = (() => {
    try {
      return parseCrashReport(text);
    } catch (error) {
      throw new UserFacingError(`${file}: ${messageOf(error)}`);
    }
  })();
  stdout.write(reporters[format as ReporterName](report));
  return exitCodeOfReport(report);
}
