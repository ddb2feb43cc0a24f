import { XMLParser, XMLValidator } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import type { Verdict } from "../../../crash-lab/judge/verdicts.js";
import { parseCrashReport } from "../../../crash-lab/report/crash-report.js";
import { exitCodeOfReport } from "../../../crash-lab/report/exit-code.js";
import { reporters } from "../../../crash-lab/report/reporter.js";
import { crashCase, reportOf, window } from "./reports.js";

const mixed = reportOf(
  [crashCase("POST /postings", "duplicated"), crashCase("GET /x", "once"), crashCase("COMMIT", "harness")],
  [
    {
      name: "no-key",
      predicted: [window("POST /postings")],
      caught: [],
      ok: false,
      detail: "once instead of duplicated",
    },
  ],
);

test("totals are counted from the cases", () => {
  expect(mixed.totals).toMatchObject({ windows: 4, cases: 3, windowsPerSecond: 1.5 });
  expect(mixed.totals.verdicts).toEqual({ duplicated: 1, once: 1, harness: 1 });
});

describe("exit code", () => {
  test("fine", () => expect(exitCodeOfReport(reportOf([crashCase("a", "once")]))).toBe(0));
  test("bad verdict", () => expect(exitCodeOfReport(reportOf([crashCase("a", "lost")]))).toBe(1));
  test("the lab's own fault", () => expect(exitCodeOfReport(mixed)).toBe(2));
  test("nothing judged", () => expect(exitCodeOfReport(reportOf([]))).toBe(2));
  test("a surviving mutant", () =>
    expect(
      exitCodeOfReport(
        reportOf(
          [crashCase("a", "once")],
          [{ name: "m", predicted: ["w"], caught: [], ok: false, detail: "once instead of duplicated" }],
        ),
      ),
    ).toBe(1));
});

test("any report can be made again from the saved JSON", () => {
  const again = parseCrashReport(reporters.json(mixed));
  for (const reporter of Object.values(reporters)) expect(reporter(again)).toBe(reporter(mixed));
});

test("a file that is no report is refused with the field that is wrong", () => {
  expect(() => parseCrashReport("{")).toThrow("not a crash report");
  const wrong = { ...mixed, totals: { ...mixed.totals, seconds: "2" } };
  expect(() => parseCrashReport(JSON.stringify(wrong))).toThrow("totals.seconds");
  const other = { ...mixed, schema: "killproof.crash-report/9" };
  expect(() => parseCrashReport(JSON.stringify(other))).toThrow("schema");
  const strange = reportOf([crashCase("a", "fine" as Verdict)]);
  expect(() => parseCrashReport(JSON.stringify(strange))).toThrow("scenarios.0.cases.0.verdict");
});

test("the matrix shows each window once, and each bad one with what to do and how to repeat it", () => {
  const text = reporters.console(mixed);
  expect(text).toContain("DUPLICATED");
  expect(text).toContain("automatic/worker/http/POST /postings/1/after");
  expect(text).toContain(`to repeat: ${mixed.scenarios[0]!.cases[0]!.repeat}`);
  expect(text).toContain("SURVIVED  no-key");
  expect(text).toContain("3 cases at 4 windows: 1 once, 1 duplicated, 1 harness");
});

test("JUnit: harness verdicts are errors, bad ones failures, and the text is escaped", () => {
  const xml = reporters.junit(mixed);
  expect(XMLValidator.validate(xml)).toBe(true);
  const parsed = new XMLParser({ ignoreAttributes: false, isArray: (name) => name === "testcase" }).parse(
    xml,
  );
  const suite = parsed.testsuites.testsuite;
  expect(suite["@_errors"]).toBe("1");
  expect(suite["@_failures"]).toBe("2");
  const cases = suite.testcase as { "@_name": string; error?: unknown; failure?: unknown }[];
  expect(cases.find((each) => each["@_name"].includes("COMMIT"))).toHaveProperty("error");
  expect(cases.find((each) => each["@_name"].includes("POST"))).toHaveProperty("failure");
  expect(cases.find((each) => each["@_name"].includes("GET"))).not.toHaveProperty("failure");
});

test("the same report gives the same bytes whatever the order of its cases", () => {
  const reversed = {
    ...mixed,
    scenarios: [{ ...mixed.scenarios[0]!, cases: mixed.scenarios[0]!.cases.toReversed() }],
  };
  expect(reporters.junit(reversed)).toBe(reporters.junit(mixed));
});
