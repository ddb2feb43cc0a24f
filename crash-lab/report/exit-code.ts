import { exitCodeOf } from "../judge/verdicts.js";
import type { CrashReport } from "./crash-report.js";

/** 0 fine, 1 bad verdict or a surviving mutant, 2 the lab's own fault (see `verdicts.ts`), or nothing was tried. */
export function exitCodeOfReport(report: CrashReport): 0 | 1 | 2 {
  const cases = report.scenarios.flatMap((scenario) => scenario.cases);
  const mutants = report.scenarios.flatMap((scenario) => scenario.mutants);
  const code = cases.length === 0 && mutants.length > 0 ? 0 : exitCodeOf(cases.map(({ verdict }) => verdict));
  return code === 0 && mutants.some(({ ok }) => !ok) ? 1 : code;
}
