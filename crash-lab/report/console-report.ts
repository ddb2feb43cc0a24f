import { passes, verdictNames, verdicts, type Verdict } from "../judge/verdicts.js";
import type { CrashCase, CrashReport, CrashScenarioReport } from "./crash-report.js";

/** The matrix for people: a line per window, a column per verb, then what is bad with how to repeat it. */
export function consoleReport(report: CrashReport): string {
  const lines: string[] = [];
  for (const scenario of report.scenarios) lines.push(...scenarioLines(scenario), "");
  const { totals } = report;
  const counts = verdictNames
    .filter((name) => totals.verdicts[name])
    .map((name) => `${totals.verdicts[name]} ${name}`)
    .join(", ");
  lines.push(
    `${totals.cases} cases at ${totals.windows} windows: ${counts || "none judged"}`,
    `${totals.seconds.toFixed(1)} s, ${totals.windowsPerSecond.toFixed(1)} judged windows a second, profile ${report.profile}`,
  );
  return `${lines.join("\n")}\n`;
}

function scenarioLines({ name, manifest, cases, mutants }: CrashScenarioReport): string[] {
  const verbs = [...new Set(cases.map(({ verb }) => verb))].sort();
  const windows = [...new Set(cases.map(({ window }) => window))].sort();
  const cells = new Map(cases.map((each) => [`${each.window} ${each.verb}`, each]));
  const readable = windows.map((window) => decodeURIComponent(window));
  const width = Math.max(6, ...readable.map((window) => window.length));
  const columns = verbs.map((verb) => Math.max(verb.length, ...verdictNames.map((each) => each.length)));
  const lines = [
    `${name}: ${manifest.stable} stable windows, ${manifest.unstable} unstable, manifest ${manifest.hash.slice(0, 12)}`,
    `  ${"window".padEnd(width)}  ${verbs.map((verb, at) => verb.padEnd(columns[at]!)).join("  ")}`.trimEnd(),
    ...windows.map((window, row) =>
      `  ${readable[row]!.padEnd(width)}  ${verbs.map((verb, at) => cell(cells.get(`${window} ${verb}`)).padEnd(columns[at]!)).join("  ")}`.trimEnd(),
    ),
    ...cases.filter(({ verdict }) => !passes(verdict)).flatMap(badCaseLines),
  ];
  for (const mutant of mutants)
    lines.push(
      `  ${mutant.ok ? "caught" : "SURVIVED"}  ${mutant.name}  ${mutant.caught.length} of ${mutant.predicted.length} predicted windows`,
    );
  return lines;
}

const cell = (crashCase: CrashCase | undefined): string =>
  crashCase ? (passes(crashCase.verdict) ? crashCase.verdict : crashCase.verdict.toUpperCase()) : "-";

function badCaseLines({ window, verb, verdict, detail, repeat }: CrashCase): string[] {
  const meaning = verdicts[verdict as Verdict];
  return [
    "",
    `  ${verdict.toUpperCase()} at ${decodeURIComponent(window)} (${verb})`,
    `    ${detail}`,
    `    ${meaning.when} ${meaning.whatToDo}`,
    `    to repeat: ${repeat}`,
  ];
}
