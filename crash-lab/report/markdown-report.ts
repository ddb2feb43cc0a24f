import { passes, verdictNames, verdicts } from "../judge/verdicts.js";
import type { CrashCase, CrashReport, CrashScenarioReport } from "./crash-report.js";
import { recoveryLine, recoveryOf } from "./recovery.js";

/** A job's summary may hold a mebibyte, and nobody reads more bad cases than these. */
const badCasesShown = 50;

/** For a job's summary page (`>> "$GITHUB_STEP_SUMMARY"`) or a comment: the counts, then what is bad with how to repeat it. */
export function markdownReport(report: CrashReport): string {
  const { totals, profile, version } = report;
  const cases = report.scenarios.flatMap((scenario) => scenario.cases);
  const recovery = recoveryOf(cases);
  return [
    "## Crash lab",
    "",
    `${totals.cases} cases at ${totals.windows} windows in ${totals.seconds.toFixed(1)} s, ${totals.windowsPerSecond.toFixed(1)} a second. Profile ${profile}, Killproof ${version}.`,
    ...(recovery ? ["", `${capitalised(recoveryLine(recovery))}.`] : []),
    "",
    ...countsTable(report.scenarios),
    ...report.scenarios.flatMap(mutantsTable),
    ...badCases(cases),
    "",
  ].join("\n");
}

function countsTable(scenarios: readonly CrashScenarioReport[]): string[] {
  const rows = scenarios.flatMap(({ name, cases }) =>
    [...new Set(cases.map(({ story }) => story))].sort().map((story) => {
      const own = cases.filter((each) => each.story === story);
      const counts = verdictNames.map((verdict) => own.filter((each) => each.verdict === verdict).length);
      return { name, story, counts };
    }),
  );
  const used = verdictNames.filter((_, at) => rows.some(({ counts }) => counts[at]! > 0));
  return [
    row(["scenario", "story", ...used]),
    row(["---", "---", ...used.map(() => "---:")]),
    ...rows.map(({ name, story, counts }) =>
      row([
        text(name),
        text(story),
        ...used.map((verdict) => String(counts[verdictNames.indexOf(verdict)]!)),
      ]),
    ),
  ];
}

function mutantsTable({ mutants }: CrashScenarioReport): string[] {
  if (mutants.length === 0) return [];
  return [
    "",
    row(["protection taken out", "outcome", "at"]),
    row(["---", "---", "---"]),
    ...mutants.map(({ name, ok, detail }) => row([text(name), ok ? "caught" : "**survived**", text(detail)])),
  ];
}

function badCases(cases: readonly CrashCase[]): string[] {
  const bad = cases.filter(({ verdict }) => !passes(verdict));
  const more = bad.length - badCasesShown;
  return [
    ...bad
      .slice(0, badCasesShown)
      .flatMap(({ window, verb, verdict, detail, repeat }) => [
        "",
        `### ${verdict} at ${code(decodeURIComponent(window))} (${text(verb)})`,
        "",
        text(detail),
        "",
        `${verdicts[verdict].when} ${verdicts[verdict].whatToDo}`,
        "",
        `To repeat: ${code(repeat)}`,
      ]),
    ...(more > 0 ? ["", `${more} more bad cases are in the JSON report.`] : []),
  ];
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const capitalised = (line: string): string => line.charAt(0).toUpperCase() + line.slice(1);

/** Words of others in running text: nothing of them is markup, and a table's cell stays one cell. */
const text = (words: string): string =>
  words.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>()#+!|~&$@-]/g, (each) => `\\${each}`);

/** A code span may hold anything but its own fence, so the fence is longer than any run of backticks inside. */
function code(words: string): string {
  const longest = Math.max(0, ...[...words.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = longest > 0 ? " " : "";
  return `${fence}${space}${words.replace(/\s+/g, " ")}${space}${fence}`;
}
