import { Script } from "node:vm";
import { expect, test } from "vitest";
import type { EvidenceLine } from "../../../crash-lab/judge/evidence-line.js";
import type { CrashReport } from "../../../crash-lab/report/crash-report.js";
import { htmlReport } from "../../../crash-lab/report/html/html-report.js";
import { timelinesOf } from "../../../crash-lab/report/html/timelines.js";
import { markdownReport } from "../../../crash-lab/report/markdown-report.js";
import { crashCase, reportOf, window } from "./reports.js";

const hostile = `</script><script>alert(1)</script><img src=x onerror="alert('2')">`;

const line = (change: Partial<EvidenceLine>): EvidenceLine => ({
  run: "kp1",
  system: "accounting",
  seq: 0,
  at: "2026-01-01T00:00:01.000Z",
  kind: "committed",
  key: "post:kp1-office",
  digest: "",
  status: null,
  ...change,
});

const dataOf = (page: string): { timelines: ReturnType<typeof timelinesOf>; cases: unknown[] } =>
  JSON.parse(/<script type="application\/json" id="data">([^<]*)<\/script>/.exec(page)![1]!) as never;

test("a window, a detail or a key of somebody else's can't become markup", () => {
  const report = reportOf([crashCase(hostile, "duplicated", { detail: hostile, repeat: hostile })]);
  const fault = line({ system: "lab", kind: "fault", key: window(hostile), status: "kill" });
  const page = htmlReport(report, [fault, line({ key: hostile })]);
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page).not.toContain("<img");
  expect(JSON.stringify(dataOf(page))).toContain("onerror");
  // What stands in a code span is shown as it is.
  expect(markdownReport(report).replaceAll(/`[^`]*`/g, "")).not.toMatch(/(^|[^\\])<img/m);
});

test("the page needs no other file and no network, and its script is one that a browser can read", () => {
  const page = htmlReport(reportOf([crashCase("GET /x", "once")]));
  expect(page).not.toMatch(/\b(src|href)=|@import|url\(/);
  const script = /<script>([\s\S]*?)<\/script>/.exec(page)![1]!;
  expect(() => new Script(script)).not.toThrow();
});

test("without scripts the matrix is there, with a verdict for each window and verb", () => {
  const page = htmlReport(
    reportOf([crashCase("GET /x", "once"), crashCase("GET /x", "lost", { verb: "drop-answer" })]),
  );
  expect(page.match(/<th scope="row">/g)).toHaveLength(1);
  expect([...page.matchAll(/data-case="\d+"\s*>\s*([a-z]+)/g)].map(([, verdict]) => verdict)).toEqual([
    "lost",
    "once",
  ]);
  expect(page).toContain("Not fine: lost.");
});

test("nothing judged is not fine", () => {
  expect(htmlReport(reportOf([]))).toContain("Not fine");
});

test("a timeline holds what was seen in the order of time, the fault's moment, and the token as a word", () => {
  const { texts, cases, golden } = timelinesOf([
    line({
      system: "lab",
      kind: "fault",
      key: window("GET /x"),
      status: "kill",
      at: "2026-01-01T00:00:03.000Z",
    }),
    line({ at: "2026-01-01T00:00:05.500Z" }),
    line({ system: "history", kind: "started", key: "invoice:kp1-office" }),
    line({ run: "kp0", system: "lab", kind: "golden", key: "automatic", status: "closed" }),
    line({ run: "kp0", key: "post:kp0-office" }),
  ]);
  const [timeline] = cases[`${window("GET /x")} kill`]!;
  expect(timeline).toMatchObject({ token: "kp1", faultMs: 2_000, durationMs: 4_500 });
  const read = timeline!.marks.map(([system, ms, kind, key]) => [ms, texts[system], texts[kind], texts[key]]);
  expect(read).toEqual([
    [0, "history", "started", "invoice:<run>-office"],
    [2_000, "lab", "fault", "automatic/worker/http/GET /x/1/after"],
    [4_500, "accounting", "committed", "post:<run>-office"],
  ]);
  expect(golden["automatic"]).toMatchObject({ token: "kp0", faultMs: null });
  expect(golden["automatic"]!.marks).toHaveLength(1);
});

test("the summary for a job counts by story and names each bad case with the command that repeats it", () => {
  const report: CrashReport = reportOf([
    crashCase("GET /x", "once"),
    crashCase("POST /postings", "duplicated", { recoverMs: 12 }),
  ]);
  const summary = markdownReport(report);
  expect(summary).toContain("| scenario | story | once | duplicated |");
  expect(summary).toContain("| invoice\\-approval | automatic | 1 | 1 |");
  expect(summary).toContain("### duplicated at `automatic/worker/http/POST /postings/1/after` (kill)");
  expect(summary).toContain(
    `To repeat: \`killproof crash invoice-approval --window '${window("POST /postings")}'\``,
  );
  expect(summary).toContain("p50 12 ms");
});
