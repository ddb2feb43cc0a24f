import { compareCase, type FoundDifference } from "./compare.js";
import type { CaseEngine, PlayedCase } from "./engine.js";
import type { CaseForm, Outcome } from "./form.js";
import { CaseFileError, type FunctionLibrary } from "./functions.js";
import { caseFilesAt, loadCaseFile, loadExpectations } from "./load.js";
import { playCase } from "./play.js";
import { differenceTable, type JudgedCase } from "./report.js";

export interface CaseRunOptions {
  /** A case file, or a folder of them. */
  readonly file: string;
  readonly engine: CaseEngine;
  /** Engine whose results are the expectation when no file holds one. */
  readonly reference: CaseEngine;
  /** Whether `engine` is our own, for which a case's stated differences hold. */
  readonly ours: boolean;
  readonly expect?: string | undefined;
  /** Cases to run; all when empty. */
  readonly ids?: readonly string[];
}

export interface CaseRunResult {
  /** The outcomes in the form of the expectation files, each with its differences. */
  readonly cases: Record<string, Pick<PlayedCase, "steps" | "calls"> & { diffs: FoundDifference[] }>;
  readonly table: string;
  /** True when every difference is a stated one. */
  readonly agrees: boolean;
  readonly warnings: readonly string[];
}

/** Runs the cases of a file, or of a folder's files, on an engine and compares them with what the reference gave. */
export async function runCases(options: CaseRunOptions): Promise<CaseRunResult> {
  const { engine, reference } = options;
  const warnings: string[] = [];
  const chosen = await chooseCases(options, warnings);
  const results: CaseRunResult["cases"] = {};
  const judged: JudgedCase[] = [];
  for (const { subject, functions, stored } of chosen) {
    const played = await playCase(engine, subject, functions);
    const expected = stored ?? subject.expect ?? (await playCase(reference, subject, functions));
    const diffs = compareCase(
      subject,
      plain(expected),
      { ...played, ...plain(played) },
      { ours: options.ours },
    );
    results[subject.id] = { steps: played.steps, ...(played.calls && { calls: played.calls }), diffs };
    judged.push({ id: subject.id, title: subject.title, script: subject.script, differences: diffs });
  }
  const measured = chosen.every(
    ({ subject, stored }) => stored !== undefined || subject.expect !== undefined,
  );
  return {
    cases: results,
    table: differenceTable(engine.name, measured ? "expected" : reference.name, judged),
    agrees: judged.every(({ differences }) => differences.every(({ stated }) => stated)),
    warnings,
  };
}

interface ChosenCase {
  readonly subject: CaseForm;
  readonly functions: FunctionLibrary;
  /** What a file of expectations says of the case. */
  readonly stored: Outcome | undefined;
}

async function chooseCases(options: CaseRunOptions, warnings: string[]): Promise<ChosenCase[]> {
  const { file, expect, ids = [] } = options;
  const found = new Map<string, ChosenCase>();
  for (const caseFile of await caseFilesAt(file)) {
    const loaded = await loadCaseFile(caseFile);
    const stored = await loadExpectations(caseFile, expect);
    warnings.push(...loaded.warnings);
    for (const subject of loaded.cases) {
      if (found.has(subject.id))
        throw new CaseFileError(`${caseFile}: another file has a case "${subject.id}" too`);
      const own = stored !== undefined && Object.hasOwn(stored, subject.id) ? stored[subject.id] : undefined;
      found.set(subject.id, { subject, functions: loaded.functions, stored: own });
    }
  }
  const unknown = ids.filter((id) => !found.has(id)).map((id) => `"${id}"`);
  if (unknown.length > 0) {
    throw new CaseFileError(
      `${file}: no case ${unknown.join(", ")}; there are ${[...found.keys()].join(", ")}`,
    );
  }
  return [...found.values()].filter(({ subject }) => ids.length === 0 || ids.includes(subject.id));
}

/** Both sides are compared as JSON has them, since that is how expectations are kept. */
function plain({ steps, calls }: Pick<PlayedCase, "steps" | "calls"> | Outcome): Outcome {
  return JSON.parse(JSON.stringify({ steps, ...(calls && { calls }) })) as Outcome;
}
