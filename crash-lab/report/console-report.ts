import { passes, verdictNames, verdicts, type Verdict } from "../judge/verdicts.js";
import type { CrashCase, CrashReport, CrashScenarioReport } from "./crash-report.js";
import { recoveryLine, recoveryOf } from "./recovery.js";

/** The matrix for people: a line per window, a column per verb, then what is bad with how to repeat it. */
export function consoleReport(report: CrashReport): string {
  const lines: string[] = [];
  for (const scenario of report.scenarios) lines.push(...scenarioLines(scenario), "");
  const { totals } = report;
  const mutants = report.scenarios.flatMap((scenario) => scenario.mutants);
  if (mutants.length > 0)
    lines.push(`${mutants.filter(({ ok }) => ok).length} of ${mutants.length} mutants caught as predicted`);
  if (totals.cases === 0 && mutants.length > 0) return `${lines.join("\n")}\n`;
  const counts = verdictNames
    .filter((name) => totals.verdicts[name])
    .map((name) => `${totals.verdicts[name]} ${name}`)
    .join(", ");
  lines.push(
    `${totals.cases} cases at ${totals.windows} windows: ${counts || "none judged"}`,
    `${totals.seconds.toFixed(1)} s, ${totals.windowsPerSecond.toFixed(1)} judged windows a second, profile ${report.profile}`,
  );
  const recovery = recoveryOf(report.scenarios.flatMap(({ cases }) => cases));
  if (recovery) lines.push(recoveryLine(recovery));
  return `${lines.join("\n")}\n`;
}

function scenarioLines({ name, manifest, cases, mutants }: CrashScenarioReport): string[] {
  const verbs = [...new Set(cases.map(({ verb }) => verb))].sort();
  const windows = [...new Set(cases.map(({ window }) => window))].sort();
  const cells = new Map<string, CrashCase[]>();
  for (const each of cases) {
    const name = `${each.window} ${each.verb}`;
    cells.set(name, [...(cells.get(name) ?? []), each]);
  }
  const heading = `${name}: ${manifest.stable} stable windows, ${manifest.unstable} unstable, manifest ${manifest.hash.slice(0, 12)}`;
  const tried = mutants.map(
    ({ ok, name: mutant, detail }) => `  ${ok ? "caught  " : "SURVIVED"}  ${mutant}: ${detail}`,
  );
  if (cases.length === 0 && mutants.length > 0) return [heading, ...tried];
  const readable = windows.map((window) => decodeURIComponent(window));
  const width = Math.max(6, ...readable.map((window) => window.length));
  const columns = verbs.map((verb) => Math.max(verb.length, ...verdictNames.map((each) => each.length)));
  return [
    heading,
    `  ${"window".padEnd(width)}  ${verbs.map((verb, at) => verb.padEnd(columns[at]!)).join("  ")}`.trimEnd(),
    ...windows.map((window, row) =>
      `  ${readable[row]!.padEnd(width)}  ${verbs.map((verb, at) => cell(cells.get(`${window} ${verb}`)).padEnd(columns[at]!)).join("  ")}`.trimEnd(),
    ),
    ...cases.filter(({ verdict }) => !passes(verdict)).flatMap(badCaseLines),
    ...tried,
  ];
}

/** One verdict, or several with their numbers when the window was tried more than once. */
function cell(tried: readonly CrashCase[] | undefined): string {
  if (!tried) return "-";
  const counts = new Map<Verdict, number>();
  for (const { verdict } of tried) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts]
    .map(([verdict, count]) => {
      const shown = passes(verdict) ? verdict : verdict.toUpperCase();
      return tried.length === 1 ? shown : `${count} ${shown}`;
    })
    .join(", ");
}

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
