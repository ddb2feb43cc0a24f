/**
 * The crash lab's speed: judged windows a second beside undisturbed flows a second through the same taps. Both are
 * measured in turns in one run, so that whatever else the machine does meets both.
 */
import { goldenRuns, type Golden } from "../../crash-lab/run/golden.js";
import { HeldRun } from "../../crash-lab/run/held-run.js";
import { openLab, type OpenLab } from "../../crash-lab/run/open-lab.js";
import { totalOf, type Phase } from "../../crash-lab/run/phases.js";
import { chosenProfile, targetsOf } from "../../crash-lab/run/plan.js";
import { playCases, type JudgedCase } from "../../crash-lab/run/play-cases.js";
import { lanesByCores, RoundSize } from "../../crash-lab/run/round-size.js";
import { openLanes } from "../../crash-lab/run/run-crash-lab.js";
import { phaseTimes } from "../crash/progress.js";
import { openRun } from "../../platform/index.js";
import { invoiceApprovalLab } from "../../scenarios/invoice-approval/lab.js";

/** The least that judging should reach of what the flows alone do. */
const ratioGoal = 0.5;
/** As many at once as a round holds at most, so that both sides keep the machine equally busy. */
const flowsAtOnce = 26;
/** Undisturbed flows run before, between and after. */
const turnsByDefault = 2;
const story = "automatic";
/** Real time-outs first: theirs is the figure that counts. */
const profiles = ["quick", "obituary"] as const;

export interface CrashBenchResult {
  readonly node: string;
  readonly profiles: readonly ProfileResult[];
}

export interface ProfileResult {
  readonly profile: string;
  /** Does the lab report dead workers' tasks, so that no time-out is waited for? */
  readonly obituary: boolean;
  readonly lanes: number;
  readonly windows: number;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly windowsPerSecond: number;
  readonly flowsPerSecond: number;
  /** Events at the taps while undisturbed flows run, both sides counted. */
  readonly eventsPerSecond: number;
  readonly ratio: number;
  readonly ratioGoal: number;
  readonly meetsGoal: boolean;
  /** Milliseconds of the judged part in each phase, all lanes together. */
  readonly phases: Readonly<Record<Phase, number>>;
}

export interface CrashBenchOptions {
  readonly stdout: { write(text: string): unknown };
  /** Prints the result as JSON in place of the lines. */
  readonly json: boolean;
  /** Default: all. */
  readonly profiles?: readonly string[];
  /** How often every window is judged in each profile. Default: 2. */
  readonly turns?: number;
}

export async function benchCrash(options: CrashBenchOptions): Promise<CrashBenchResult> {
  const { stdout, json, turns = turnsByDefault } = options;
  const results: ProfileResult[] = [];
  for (const profile of options.profiles ?? profiles) {
    const result = await benchProfile(profile, turns);
    if (!json) stdout.write(describe(result));
    results.push(result);
  }
  const all = { node: process.version, profiles: results };
  if (json) stdout.write(`${JSON.stringify(all)}\n`);
  return all;
}

async function benchProfile(name: string, turns: number): Promise<ProfileResult> {
  const run = await openRun({ name: "bench" });
  try {
    const lab = await openLab(invoiceApprovalLab, run, chosenProfile(invoiceApprovalLab, name));
    const golden = await goldenRuns(lab, story);
    const lanes = await openLanes(lab, lanesByCores());
    // Once without counting: the first flows find everything cold.
    await flows(lanes);
    const undisturbed = [await flows(lanes)];
    const judged: Judged[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      judged.push(await judgeAll(lanes, golden, run.closing));
      undisturbed.push(await flows(lanes));
    }
    return resultOf(lanes, undisturbed, judged);
  } finally {
    await run.close();
  }
}

interface Flows {
  readonly seconds: number;
  readonly events: number;
}

type Lanes<Environment> = readonly OpenLab<Environment>[];

/** Dealt to the lanes as the judged ones are, so that neither side has more processes than the other. */
async function flows<Environment>(lanes: Lanes<Environment>): Promise<Flows> {
  const seen = (): number => lanes.reduce((sum, { controller }) => sum + controller.events.length, 0);
  const eventsBefore = seen();
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: flowsAtOnce }, async (_, index) => {
      const lab = lanes[index % lanes.length]!;
      const flow = new HeldRun(lab.newToken(), story, undefined);
      lab.add(flow);
      await lab.start(flow);
      await lab.ending(flow);
      lab.retire(flow);
    }),
  );
  return {
    seconds: (performance.now() - begin) / 1000,
    events: seen() - eventsBefore,
  };
}

interface Judged {
  readonly cases: readonly JudgedCase[];
  readonly seconds: number;
}

async function judgeAll<Environment>(
  lanes: Lanes<Environment>,
  { manifest, outcome, arrivalMs }: Golden,
  signal: AbortSignal,
): Promise<Judged> {
  const begin = performance.now();
  const { definition, holdMsMax } = lanes[0]!;
  const cases = await playCases(lanes, targetsOf(definition, manifest, { verbs: ["kill"] }), {
    story,
    golden: outcome,
    arrivalMs,
    expectations: definition.expectations ?? [],
    stable: (window) => manifest.some((entry) => entry.window === window && entry.stable),
    size: new RoundSize(holdMsMax),
    signal,
    onCase: () => undefined,
  });
  return { cases, seconds: (performance.now() - begin) / 1000 };
}

function resultOf<Environment>(
  lanes: Lanes<Environment>,
  undisturbed: readonly Flows[],
  judged: readonly Judged[],
): ProfileResult {
  const sum = (parts: readonly number[]): number => parts.reduce((total, each) => total + each, 0);
  const cases = judged.flatMap((each) => each.cases);
  const flowSeconds = sum(undisturbed.map(({ seconds }) => seconds));
  const flowsPerSecond = (flowsAtOnce * undisturbed.length) / flowSeconds;
  const windowsPerSecond = cases.length / sum(judged.map(({ seconds }) => seconds));
  const verdicts: Record<string, number> = {};
  for (const { judgement } of cases) verdicts[judgement.verdict] = (verdicts[judgement.verdict] ?? 0) + 1;
  const ratio = windowsPerSecond / flowsPerSecond;
  const { profile } = lanes[0]!;
  return {
    profile: profile.name,
    obituary: profile.obituary ?? false,
    lanes: lanes.length,
    windows: cases.length,
    verdicts,
    windowsPerSecond,
    flowsPerSecond,
    eventsPerSecond: sum(undisturbed.map(({ events }) => events)) / flowSeconds,
    ratio,
    ratioGoal,
    meetsGoal: ratio >= ratioGoal,
    phases: totalOf(lanes.map(({ phases }) => phases)),
  };
}

function describe(result: ProfileResult): string {
  const { phases, verdicts } = result;
  const named = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`);
  const waits = result.obituary ? "dead workers' tasks reported by the lab" : "real time-outs";
  return [
    `crash lab on the automatic invoice, profile ${result.profile} (${waits}), ${result.lanes} lanes`,
    `  ${result.windows} judged windows × kill: ${named.join(", ")}`,
    `  ${result.windowsPerSecond.toFixed(2)} judged windows a second; ${result.flowsPerSecond.toFixed(2)} undisturbed flows a second, ${flowsAtOnce} at once, through the same taps, in turns`,
    `  ratio ${result.ratio.toFixed(2)} (goal ≥ ${result.ratioGoal}): ${result.meetsGoal ? "meets its goal" : "falls short of its goal"}`,
    `  ${result.eventsPerSecond.toFixed(0)} boundary events a second`,
    `  where the lanes' time goes: ${phaseTimes(phases)}`,
    "",
  ].join("\n");
}
