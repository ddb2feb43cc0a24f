/** Runs the mutants of a scenario and compares what catches them with what was predicted. */
import { openRun } from "../../platform/run.js";
import { passes } from "../judge/verdicts.js";
import type { CrashLabDefinition } from "../lab-definition.js";
import type { CrashScenarioReport } from "../report/crash-report.js";
import { LabFault } from "../run/lab-fault.js";
import { UnknownWindow } from "../run/plan.js";
import { runCrashLab, type LabOptions, type LabResult } from "../run/run-crash-lab.js";
import { parseWindowName } from "../windows/window-name.js";
import type { MutantPrediction } from "./baseline.js";

/** One protection less: a program in the place of one of the scenario's processes. */
export interface Mutant {
  readonly name: string;
  /** Which of the scenario's processes it takes the place of. */
  readonly process: string;
  /** The program, as `ProcessSpec` takes it: `scenarios/orders/mutants/no-key.js`. */
  readonly entry: string;
}

export type MutantReport = CrashScenarioReport["mutants"][number];

export interface GateOptions extends Pick<LabOptions, "version" | "handleSignals" | "roundSizeMax"> {
  /** Beside the predicted windows this share of the others is tried, from 0 to 1. */
  readonly share: number;
  /** Called before and after each mutant. */
  readonly progress?: GateProgress;
}

export interface GateProgress {
  begins(mutant: Mutant, prediction: MutantPrediction): void;
  ended(report: MutantReport): void;
}

/**
 * Tries each mutant at its predicted windows and at a seeded share of the others, all in one environment.
 *
 * @throws LabFault when a mutant has no prediction, or a prediction no mutant
 */
export async function tryMutants<Environment>(
  lab: CrashLabDefinition<Environment>,
  mutants: readonly Mutant[],
  baseline: readonly MutantPrediction[],
  options: GateOptions,
): Promise<MutantReport[]> {
  const pairs = paired(mutants, baseline);
  const run = await openRun({ name: "mutants", handleSignals: options.handleSignals ?? true });
  try {
    const environment = await lab.environment(run);
    const shared = { ...lab, environment: () => Promise.resolve(environment) };
    const reports: MutantReport[] = [];
    for (const { mutant, prediction } of pairs) {
      run.closing.throwIfAborted();
      options.progress?.begins(mutant, prediction);
      const report = await tryMutant(shared, mutant, prediction, options);
      options.progress?.ended(report);
      reports.push(report);
    }
    return reports;
  } finally {
    await run.close();
  }
}

function paired(
  mutants: readonly Mutant[],
  baseline: readonly MutantPrediction[],
): { mutant: Mutant; prediction: MutantPrediction }[] {
  const orphan = baseline.find(({ name }) => !mutants.some((mutant) => mutant.name === name));
  if (orphan) throw new LabFault(`the baseline predicts "${orphan.name}", and there is no such mutant`);
  return mutants.map((mutant) => {
    const prediction = baseline.find(({ name }) => name === mutant.name);
    if (!prediction)
      throw new LabFault(
        `the mutant "${mutant.name}" has no prediction; write down what will catch it before it is run`,
      );
    return { mutant, prediction };
  });
}

/** The scenario with the mutant in the place of the process that it is made from. */
export function mutantLab<Environment>(
  lab: CrashLabDefinition<Environment>,
  { name, process, entry }: Mutant,
): CrashLabDefinition<Environment> {
  const original = lab.processes[process];
  if (!original)
    throw new LabFault(
      `the mutant "${name}" stands for a "${process}"; ${lab.name} has ${Object.keys(lab.processes).join(", ")}`,
    );
  return {
    ...lab,
    name: `${lab.name}+${name}`,
    processes: {
      ...lab.processes,
      [process]: (environment, peers, settings) => ({
        ...original(environment, peers, settings),
        entry,
      }),
    },
  };
}

async function tryMutant<Environment>(
  lab: CrashLabDefinition<Environment>,
  mutant: Mutant,
  { predicted }: MutantPrediction,
  { version, share, roundSizeMax }: GateOptions,
): Promise<MutantReport> {
  try {
    const { cases } = await runCrashLab(mutantLab(lab, mutant), {
      handleSignals: false,
      version,
      verbs: [...new Set(predicted.map(({ verb }) => verb))],
      stories: [...new Set(predicted.map(({ window }) => parseWindowName(window).story))],
      windows: predicted.map(({ window }) => window),
      sample: { share, seed: mutant.name },
      ...(roundSizeMax === undefined ? {} : { roundSizeMax }),
    });
    return compare(mutant.name, predicted, cases);
  } catch (error) {
    if (!(error instanceof UnknownWindow)) throw error;
    // The mutant no longer comes by its window, so nobody knows whether it would be caught.
    return {
      name: mutant.name,
      predicted: predicted.map(({ window }) => window),
      caught: [],
      ok: false,
      detail: `stale: ${error.message}`,
    };
  }
}

function compare(
  name: string,
  predicted: MutantPrediction["predicted"],
  cases: LabResult["cases"],
): MutantReport {
  const verdictAt = (window: string, verb: string): string | undefined =>
    cases.find(({ target }) => target.window === window && target.verb === verb)?.judgement.verdict;
  const missed = predicted.filter(({ window, verb, verdict }) => verdictAt(window, verb) !== verdict);
  const caught = cases.filter(({ judgement }) => !passes(judgement.verdict));
  const faults = caught.filter(({ judgement }) => judgement.verdict === "harness");
  const others = caught.filter(
    ({ target }) => !predicted.some(({ window, verb }) => window === target.window && verb === target.verb),
  );
  const detail = (): string => {
    if (missed.length > 0)
      return missed
        .map(
          ({ window, verb, verdict }) =>
            `${decodeURIComponent(window)} (${verb}): ${verdictAt(window, verb) ?? "not tried"} instead of ${verdict}`,
        )
        .join("; ");
    if (faults.length > 0) return `the lab's own fault: ${faults[0]!.judgement.detail}`;
    if (others.length === 0) return `${predicted.length} predicted`;
    return `${predicted.length} predicted, and ${others.length} of ${cases.length - predicted.length} others that were tried`;
  };
  return {
    name,
    predicted: predicted.map(({ window }) => window),
    caught: [...new Set(caught.map(({ target }) => target.window))],
    ok: missed.length === 0 && faults.length === 0,
    detail: detail(),
  };
}
