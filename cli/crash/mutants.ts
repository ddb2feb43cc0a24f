/** `killproof crash <scenario> --mutants`: takes the protections out one by one, and sees whether the lab notices. */
import { join } from "node:path";
import { parseBaseline } from "../../crash-lab/mutants/baseline.js";
import { tryMutants, type GateProgress, type MutantReport } from "../../crash-lab/mutants/gate.js";
import type { CrashReport } from "../../crash-lab/report/crash-report.js";
import { reportOf } from "../../crash-lab/run/build-report.js";
import type { Manifest } from "../../crash-lab/windows/manifest.js";
import { UserFacingError } from "../../platform/errors.js";
import type { FoundLab } from "./labs.js";
import type { LineWriter } from "./progress.js";
import { readParsed } from "./read-file.js";

/** Beside the predicted windows: enough to be surprised now and then, little enough for every run of the tests. */
const shareOfOthers = 0.1;

export interface MutantOptions {
  readonly version: string;
  /** Only these; all by default. */
  readonly names: readonly string[] | undefined;
  /** Every window of each mutant's stories, not a share of them. */
  readonly everyWindow: boolean;
  readonly stderr: LineWriter;
}

/** @throws UserFacingError for a scenario without mutants, or a name that none of them has */
export async function playMutants(
  { lab, mutants }: FoundLab,
  manifest: Manifest,
  { version, names, everyWindow, stderr }: MutantOptions,
): Promise<CrashReport> {
  if (mutants.length === 0) throw new UserFacingError(`${lab.name} has no mutants`);
  const unknown = names?.find((name) => !mutants.some((mutant) => mutant.name === name));
  if (unknown !== undefined)
    throw new UserFacingError(
      `--mutant ${unknown}: allowed are ${mutants.map(({ name }) => name).join(", ")}`,
    );
  const baseline = await readParsed(join(lab.folder, "mutants", "baseline.json"), parseBaseline);
  const chosen = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
    names ? all.filter(({ name }) => names.includes(name)) : all;
  const startedAt = performance.now();
  const reports = await tryMutants(lab, chosen(mutants), chosen(baseline), {
    version,
    share: everyWindow ? 1 : shareOfOthers,
    progress: progressTo(stderr),
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const report = reportOf(lab, {
    version,
    profile: lab.profile,
    manifest,
    cases: [],
    seconds,
    serial: false,
  });
  return { ...report, scenarios: report.scenarios.map((each) => ({ ...each, mutants: reports })) };
}

function progressTo(stream: LineWriter): GateProgress {
  return {
    begins: ({ name }, { why }) => void stream.write(`${name}: ${why}\n`),
    ended: ({ name, ok, detail }: MutantReport) =>
      void stream.write(`   ${ok ? "caught" : "!! SURVIVED"} ${name}: ${detail}\n`),
  };
}
