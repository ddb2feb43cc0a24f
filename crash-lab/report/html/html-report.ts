import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../platform/package-root.js";
import type { EvidenceLine } from "../../judge/evidence-line.js";
import { passes, verdictNames, verdicts } from "../../judge/verdicts.js";
import { recoveryLine, recoveryOf } from "../recovery.js";
import { exitCodeOfReport } from "../exit-code.js";
import type { CrashCase, CrashReport, CrashScenarioReport } from "../crash-report.js";
import { html, jsonForScript, Markup } from "./markup.js";
import { timelinesOf } from "./timelines.js";

/**
 * One page that needs nothing else: no other file, no network. The matrix is there without scripts; filters, details
 * and timelines need them.
 *
 * @param evidence what the observers saw (`--evidence DIR`); without it cases have no timeline
 */
export function htmlReport(report: CrashReport, evidence: readonly EvidenceLine[] = []): string {
  const cases = report.scenarios.flatMap((scenario) => scenario.cases);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Crash report: ${report.scenarios.map(({ name }) => name).join(", ")}</title>
        <style>
          ${asset("page.css")}
        </style>
      </head>
      <body>
        <header>
          <h1>Crash report</h1>
          ${summary(report)}
        </header>
        ${filters(cases)}
        <main>
          <section class="matrices" aria-label="Windows and verdicts">
            ${report.scenarios.map((scenario) => matrix(scenario, cases))} ${meanings()}
          </section>
          <section id="case" class="case" aria-live="polite" aria-label="The chosen case">
            <p class="hint">Choose a verdict to see what was done there and what every observer saw.</p>
          </section>
        </main>
        <script type="application/json" id="data">
          ${jsonForScript({ cases, verdicts, timelines: timelinesOf(evidence) })}
        </script>
        <script>
          ${asset("page.js")};
        </script>
      </body>
    </html> `;
  return page.text;
}

function summary(report: CrashReport): Markup {
  const { totals, version, profile, scenarios } = report;
  const bad = verdictNames.filter((name) => totals.verdicts[name] && !passes(name));
  const counts = verdictNames
    .filter((name) => totals.verdicts[name])
    .map((name) => html`<li class="${cellClass(name)}">${totals.verdicts[name]!} ${name}</li>`);
  const recovery = recoveryOf(scenarios.flatMap(({ cases }) => cases));
  const green = exitCodeOfReport(report) === 0;
  return html`<p class="${green ? "word good" : "word bad"}">
      ${green ? "Fine: every verdict is one that may stand." : `Not fine: ${bad.join(", ") || "a mutant survived, or nothing was judged"}.`}
    </p>
    <ul class="counts">
      ${counts}
    </ul>
    <p>
      ${totals.cases} cases at ${totals.windows} windows in ${totals.seconds.toFixed(1)} s,
      ${totals.windowsPerSecond.toFixed(1)} a second. Profile ${profile}, Killproof
      ${version}.${recovery ? ` ${recoveryLine(recovery)}.` : ""}
    </p>`;
}

const facets = ["verdict", "verb", "story", "process", "tap", "side"] as const;

function filters(cases: readonly CrashCase[]): Markup {
  return html`<form id="filters" aria-label="Filters">
    ${facets.map((facet) => {
      const values = [...new Set(cases.map((each) => each[facet]))].sort();
      return html`<label
        >${facet}
        <select name="${facet}">
          <option value="">all</option>
          ${values.map((value) => html`<option>${value}</option>`)}
        </select></label
      >`;
    })}
    <label>window holds <input name="text" type="search" /></label>
    <output></output>
  </form>`;
}

function matrix(scenario: CrashScenarioReport, all: readonly CrashCase[]): Markup {
  const { name, manifest, cases, mutants } = scenario;
  const verbs = [...new Set(cases.map(({ verb }) => verb))].sort();
  const windows = [...new Set(cases.map(({ window }) => window))].sort();
  const byWindow = new Map(windows.map((window) => [window, cases.filter((each) => each.window === window)]));
  return html`<h2>${name}</h2>
    <p>
      ${manifest.stable} stable windows, ${manifest.unstable} unstable, manifest
      <code>${manifest.hash.slice(0, 12)}</code>.
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">window</th>
          ${verbs.map((verb) => html`<th scope="col">${verb}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${windows.map(
          (window) =>
            html`<tr>
              <th scope="row">${decodeURIComponent(window)}</th>
              ${verbs.map(
                (verb) =>
                  html`<td>
                    ${byWindow
                      .get(window)!
                      .filter((each) => each.verb === verb)
                      .map((each) => cell(each, all.indexOf(each)))}
                  </td>`,
              )}
            </tr> `,
        )}
      </tbody>
    </table>
    ${mutants.length === 0 ? "" : mutantTable(mutants)}`;
}

const cellClass = (verdict: CrashCase["verdict"]): string =>
  verdict === "harness" ? "harness" : passes(verdict) ? "good" : "bad";

const cell = ({ verdict }: CrashCase, index: number): Markup =>
  html`<button type="button" class="${cellClass(verdict)}" data-case="${index}">${verdict}</button>`;

function mutantTable(mutants: CrashScenarioReport["mutants"]): Markup {
  return html`<h3>Mutants</h3>
    <table>
      <thead>
        <tr>
          <th scope="col">protection taken out</th>
          <th scope="col">outcome</th>
          <th scope="col">at</th>
        </tr>
      </thead>
      <tbody>
        ${mutants.map(
          ({ name, ok, detail }) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td class="${ok ? "good" : "bad"}">${ok ? "caught" : "survived"}</td>
              <td>${detail}</td>
            </tr> `,
        )}
      </tbody>
    </table>`;
}

function meanings(): Markup {
  return html`<details>
    <summary>What the verdicts mean</summary>
    <dl>
      ${verdictNames.map(
        (name) =>
          html`<dt class="${cellClass(name)}">${name}</dt>
            <dd>${verdicts[name].when} ${verdicts[name].whatToDo}</dd> `,
      )}
    </dl>
  </details>`;
}

/** The page's own style and script, beside the sources; the package carries them. */
function asset(name: string): Markup {
  return new Markup(readFileSync(join(packageRoot(), "crash-lab", "report", "html", name), "utf8"));
}
