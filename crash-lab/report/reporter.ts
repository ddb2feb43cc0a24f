import { exitCodeOf } from "../judge/verdicts.js";
import { consoleReport } from "./console-report.js";
import type { EvidenceLine } from "../judge/evidence-line.js";
import type { CrashReport } from "./crash-report.js";
import { htmlReport } from "./html/html-report.js";
import { junitReport } from "./junit-report.js";
import { markdownReport } from "./markdown-report.js";

/** A reporter is a pure function: the result in, and for those that show it what the observers saw; text out. */
export type Reporter = (report: CrashReport, evidence?: readonly EvidenceLine[]) => string;

export const reporters = {
  console: consoleReport,
  json: (report) => `${JSON.stringify(report, undefined, 2)}\n`,
  junit: junitReport,
  html: htmlReport,
  markdown: markdownReport,
} as const satisfies Record<string, Reporter>;

export type ReporterName = keyof typeof reporters;

/** 0 fine, 1 bad verdict or a surviving mutant, 2 the lab's own fault (see `verdicts.ts`), or nothing was tried. */
export function exitCodeOfReport(report: CrashReport): 0 | 1 | 2 {
  const cases = report.scenarios.flatMap((scenario) => scenario.cases);
  const mutants = report.scenarios.flatMap((scenario) => scenario.mutants);
  const code = cases.length === 0 && mutants.length > 0 ? 0 : exitCodeOf(cases.map(({ verdict }) => verdict));
  return code === 0 && mutants.some(({ ok }) => !ok) ? 1 : code;
}
