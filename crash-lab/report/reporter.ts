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
