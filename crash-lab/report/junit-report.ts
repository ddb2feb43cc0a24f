import junitReportBuilder, { type Builder } from "junit-report-builder";
import { passes } from "../judge/verdicts.js";
import type { CrashReport } from "./crash-report.js";

// The library exports the builder itself, its typings say that it is under `default`.
const builder = junitReportBuilder as unknown as Builder;

/**
 * A test case per window and verb. The lab's own faults are `error`, bad verdicts `failure`, because the one says
 * nothing about the code under test. Byte-wise order and no time stamps: the same report gives the same bytes.
 */
export function junitReport(report: CrashReport): string {
  const document = builder.newBuilder();
  for (const scenario of [...report.scenarios].sort(byName)) {
    const suite = document.testSuite().name(scenario.name).property("manifest", scenario.manifest.hash);
    const cases = [...scenario.cases].sort((a, b) =>
      byBytes(`${a.window} ${a.verb}`, `${b.window} ${b.verb}`),
    );
    for (const each of cases) {
      const testCase = suite
        .testCase()
        .className(`${scenario.name}.${each.story}`)
        .name(`${each.window} ${each.verb}`);
      if (each.recoverMs !== null) testCase.time(each.recoverMs / 1000);
      const text = `${each.detail}\nto repeat: ${each.repeat}`;
      if (each.verdict === "harness") testCase.error(text, each.verdict);
      else if (!passes(each.verdict)) testCase.failure(text, each.verdict);
    }
    for (const mutant of [...scenario.mutants].sort(byName)) {
      const testCase = suite.testCase().className(`${scenario.name}.mutants`).name(mutant.name);
      if (!mutant.ok) testCase.failure(mutant.detail, "survived");
    }
  }
  return document.build();
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byName = (a: { name: string }, b: { name: string }): number => byBytes(a.name, b.name);
