/** The crash lab's speed: judged windows a second beside undisturbed flows a second through the same taps. */
import { goldenRuns, type Golden } from "../../crash-lab/run/golden.js";
import { HeldRun } from "../../crash-lab/run/held-run.js";
import { openLab, type OpenLab } from "../../crash-lab/run/open-lab.js";
import type { Phase } from "../../crash-lab/run/phases.js";
import { targetsOf } from "../../crash-lab/run/plan.js";
import { playCases, type JudgedCase } from "../../crash-lab/run/play-cases.js";
import { RoundSize } from "../../crash-lab/run/round-size.js";
import { openRun } from "../../platform/index.js";
import { invoiceApprovalLab } from "../../scenarios/invoice-approval/lab.js";

/** The least that judging should reach of what the flows alone do. */
const ratioGoal = 0.5;
/** As many at once as a round holds at most, so that both sides keep the machine equally busy. */
const flowsAtOnce = 26;
const story = "automatic";

export interface CrashBenchResult {
  readonly node: string;
  readonly windows: number;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly windowsPerSecond: number;
  readonly flowsPerSecond: number;
  /** Events at the taps while undisturbed flows run, both sides counted. */
  readonly eventsPerSecond: number;
  readonly ratio: number;
  readonly ratioGoal: number;
  readonly meetsGoal: boolean;
  /** Milliseconds of the judged part in each phase. */
  readonly phases: Readonly<Record<Phase, number>>;
}

export interface CrashBenchOptions {
  readonly stdout: { write(text: string): unknown };
  /** Prints the result as JSON in place of the lines. */
  readonly json: boolean;
}

/** Undisturbed flows are measured before and after, so that whatever else the machine does meets both. */
export async function benchCrash({ stdout, json }: CrashBenchOptions): Promise<CrashBenchResult> {
  const run = await openRun({ name: "bench" });
  try {
    const lab = await openLab(invoiceApprovalLab, run);
    const golden = await goldenRuns(lab, story);
    const before = await flows(lab);
    const judged = await judgeAll(lab, golden, run.closing);
    const after = await flows(lab);
    const result = resultOf([before, after], judged, lab.phases.total());
    stdout.write(json ? `${JSON.stringify(result)}\n` : describe(result));
    return result;
  } finally {
    await run.close();
  }
}

interface Flows {
  readonly seconds: number;
  readonly events: number;
}

async function flows<Environment>(lab: OpenLab<Environment>): Promise<Flows> {
  const eventsBefore = lab.controller.events.length;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: flowsAtOnce }, async () => {
      const flow = new HeldRun(lab.newToken(), story, undefined);
      lab.add(flow);
      await lab.start(flow);
      await lab.ending(flow);
      lab.retire(flow);
    }),
  );
  return {
    seconds: (performance.now() - begin) / 1000,
    events: lab.controller.events.length - eventsBefore,
  };
}

interface Judged {
  readonly cases: readonly JudgedCase[];
  readonly seconds: number;
}

async function judgeAll<Environment>(
  lab: OpenLab<Environment>,
  { manifest, outcome }: Golden,
  signal: AbortSignal,
): Promise<Judged> {
  const begin = performance.now();
  const cases = await playCases(lab, targetsOf(lab.definition, manifest, { verbs: ["kill"] }), {
    story,
    golden: outcome,
    expectations: lab.definition.expectations ?? [],
    stable: (window) => manifest.some((entry) => entry.window === window && entry.stable),
    size: new RoundSize(lab.holdMsMax),
    signal,
    onCase: () => undefined,
  });
  return { cases, seconds: (performance.now() - begin) / 1000 };
}

function resultOf(
  undisturbed: readonly Flows[],
  { cases, seconds }: Judged,
  phases: Readonly<Record<Phase, number>>,
): CrashBenchResult {
  const flowSeconds = undisturbed.reduce((sum, each) => sum + each.seconds, 0);
  const events = undisturbed.reduce((sum, each) => sum + each.events, 0);
  const flowsPerSecond = (flowsAtOnce * undisturbed.length) / flowSeconds;
  const windowsPerSecond = cases.length / seconds;
  const verdicts: Record<string, number> = {};
  for (const { judgement } of cases) verdicts[judgement.verdict] = (verdicts[judgement.verdict] ?? 0) + 1;
  const ratio = windowsPerSecond / flowsPerSecond;
  return {
    node: process.version,
    windows: cases.length,
    verdicts,
    windowsPerSecond,
    flowsPerSecond,
    eventsPerSecond: events / flowSeconds,
    ratio,
    ratioGoal,
    meetsGoal: ratio >= ratioGoal,
    phases,
  };
}

function describe(result: CrashBenchResult): string {
  const { phases, verdicts } = result;
  const named = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`);
  const parts = Object.entries(phases).map(([phase, ms]) => `${phase} ${(ms / 1000).toFixed(1)} s`);
  return [
    `crash lab on the automatic invoice, ${result.windows} windows × kill: ${named.join(", ")}`,
    `  ${result.windowsPerSecond.toFixed(2)} judged windows a second; ${result.flowsPerSecond.toFixed(2)} undisturbed flows a second, ${flowsAtOnce} at once, through the same taps`,
    `  ratio ${result.ratio.toFixed(2)} (goal ≥ ${result.ratioGoal}): ${result.meetsGoal ? "meets its goal" : "falls short of its goal"}`,
    `  ${result.eventsPerSecond.toFixed(0)} boundary events a second`,
    `  where the judged time goes: ${parts.join(", ")}`,
    "",
  ].join("\n");
}
