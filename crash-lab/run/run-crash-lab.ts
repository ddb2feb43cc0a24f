import { openRun, type Run, type RunOptions } from "../../platform/run.js";
import { passes } from "../judge/verdicts.js";
import type { EvidenceLine } from "../judge/evidence-line.js";
import type { CrashLabDefinition } from "../lab-definition.js";
import type { CrashReport } from "../report/crash-report.js";
import { driftBetween, ofStories, type Drift, type Manifest } from "../windows/manifest.js";
import { reportOf } from "./build-report.js";
import { evidenceOfCase, evidenceOfGolden } from "./gather-evidence.js";
import { goldenRuns, type Golden } from "./golden.js";
import { LabFault } from "./lab-fault.js";
import { openLab, type OpenLab } from "./open-lab.js";
import { totalOf, type Phase } from "./phases.js";
import { chosenProfile, chosenStories, requireKnown, targetsOf, type Choice } from "./plan.js";
import { lanesFor, playCases, type JudgedCase } from "./play-cases.js";
import { lanesByCores, RoundSize } from "./round-size.js";

export interface LabOptions extends Choice {
  readonly version: string;
  /** Only these stories. Default: those of the windows that are asked for, or all. */
  readonly stories?: readonly string[];
  /** The committed manifest; without one nothing is compared. */
  readonly manifest?: Manifest;
  /** The most runs in a round; 1 is the serial mode, which has one lane. */
  readonly roundSizeMax?: number;
  /** The most lanes whose rounds overlap, if the definition has several; by default what the cores can bear. */
  readonly lanesMax?: number;
  /** One of the definition's profiles by its name; its own by default. */
  readonly profile?: string;
  /** Whose evidence is gathered; that of failing cases by default. */
  readonly evidence?: "all" | "failures";
  readonly progress?: LabProgress;
  /** Default true; false inside a host that handles signals itself, as a test runner. */
  readonly handleSignals?: boolean;
}

export interface LabProgress {
  golden(story: string, manifest: Manifest): void;
  judged(judged: JudgedCase, done: number, all: number): void;
}

export interface LabResult {
  readonly report: CrashReport;
  readonly manifest: Manifest;
  readonly drift: Drift | null;
  readonly cases: readonly JudgedCase[];
  readonly evidence: {
    /** Of the undisturbed run of each story that the others were compared with. */
    readonly golden: ReadonlyMap<string, readonly EvidenceLine[]>;
    readonly cases: ReadonlyMap<JudgedCase, readonly EvidenceLine[]>;
  };
  /** Milliseconds in each phase, all lanes together. */
  readonly phases: Readonly<Record<Phase, number>>;
}

/**
 * Runs a crash lab: finds the windows in undisturbed runs, plays the faults at each, judges.
 *
 * @throws LabFault when the lab can't do its work: the story fails undisturbed, an unknown window or story is asked
 *   for, a process doesn't start, events belong to nobody, a process goes past the taps, a standby takes work
 */
export async function runCrashLab<Environment>(
  definition: CrashLabDefinition<Environment>,
  options: LabOptions,
): Promise<LabResult> {
  const stories = chosenStories(definition, options);
  const profile = chosenProfile(definition, options.profile);
  const runOptions: RunOptions = { name: "lab", handleSignals: options.handleSignals ?? true };
  const run = await openRun(runOptions);
  try {
    return await play(await openLab(definition, run, profile), options, stories, run);
  } finally {
    await run.close();
  }
}

async function play<Environment>(
  lab: OpenLab<Environment>,
  options: LabOptions,
  stories: readonly string[],
  run: Run,
): Promise<LabResult> {
  const { definition, profile } = lab;
  const goldens = await findWindows(lab, stories, options.progress);
  const manifest = [...goldens.values()].flatMap((golden) => golden.manifest);
  requireKnown(options.windows ?? [], manifest);

  const startedAt = performance.now();
  const { cases, lanes, laneOf } = await playStories(lab, goldens, options, run.closing);
  const seconds = (performance.now() - startedAt) / 1000;
  for (const lane of lanes) requireSound(lane);
  return {
    manifest,
    drift: options.manifest ? driftBetween(ofStories(options.manifest, stories), manifest) : null,
    cases,
    report: reportOf(definition, {
      profile,
      version: options.version,
      manifest,
      cases,
      seconds,
      serial: options.roundSizeMax === 1,
    }),
    evidence: await gather(lab, goldens, cases, laneOf, options.evidence ?? "failures"),
    phases: totalOf(lanes.map(({ phases }) => phases)),
  };
}

async function findWindows<Environment>(
  lab: OpenLab<Environment>,
  stories: readonly string[],
  progress: LabProgress | undefined,
): Promise<Map<string, Golden>> {
  const goldens = new Map<string, Golden>();
  for (const story of stories) {
    await lab.prepare(story);
    const golden = await goldenRuns(lab, story);
    requireSound(lab);
    goldens.set(story, golden);
    progress?.golden(story, golden.manifest);
  }
  return goldens;
}

async function playStories<Environment>(
  lab: OpenLab<Environment>,
  goldens: ReadonlyMap<string, Golden>,
  options: LabOptions,
  signal: AbortSignal,
): Promise<PlayedStories<Environment>> {
  const plan = [...goldens].map(([story, { manifest, outcome, arrivalMs }]) => ({
    story,
    golden: outcome,
    arrivalMs,
    stableWindows: new Set(manifest.filter(({ stable }) => stable).map(({ window }) => window)),
    targets: targetsOf(lab.definition, manifest, options),
  }));
  const all = plan.reduce((sum, { targets }) => sum + targets.length, 0);
  const most = Math.max(0, ...plan.map(({ targets }) => targets.length));
  const lanesMax = options.roundSizeMax === 1 ? 1 : (options.lanesMax ?? lanesByCores());
  const lanes = await openLanes(lab, lanesFor(most, lanesMax));
  const cases: JudgedCase[] = [];
  const laneOf = new Map<JudgedCase, OpenLab<Environment>>();
  for (const { story, golden, arrivalMs, stableWindows, targets } of plan) {
    if (targets.length === 0) continue;
    await Promise.all(lanes.map((lane) => lane.prepare(story)));
    await playCases(lanes, targets, {
      story,
      golden,
      arrivalMs,
      stable: (window) => stableWindows.has(window),
      expectations: lab.definition.expectations ?? [],
      size: new RoundSize(lab.holdMsMax, options.roundSizeMax, options.roundSizeMax),
      signal,
      onCase: (judged, lane) => {
        cases.push(judged);
        laneOf.set(judged, lane as OpenLab<Environment>);
        options.progress?.judged(judged, cases.length, all);
      },
    });
  }
  return { cases, lanes, laneOf };
}

interface PlayedStories<Environment> {
  readonly cases: readonly JudgedCase[];
  readonly lanes: readonly OpenLab<Environment>[];
  readonly laneOf: ReadonlyMap<JudgedCase, OpenLab<Environment>>;
}

/** @returns the first lane and as many more as the definition has, up to so many in all */
export async function openLanes<Environment>(
  first: OpenLab<Environment>,
  count: number,
): Promise<readonly OpenLab<Environment>[]> {
  const more = await Promise.all(Array.from({ length: count - 1 }, (_, index) => first.lane(index + 2)));
  return [first, ...more.filter((lane) => lane !== undefined)];
}

/** What would make every verdict worthless; asked after the undisturbed runs and once more at the end. */
function requireSound<Environment>({ controller, untapped }: OpenLab<Environment>): void {
  const [past] = untapped;
  if (past)
    // A connection that leads past the taps is a boundary the lab can't see, so its silence would prove nothing.
    throw new LabFault(
      `process ${past.process} (${past.pid}) is connected to ${past.remoteAddress}:${past.remotePort}, past the taps`,
    );
  const [stray] = controller.strays;
  if (stray)
    throw new LabFault(
      `${controller.strays.length} event(s) belong to no run, the first: ${stray.process}/${stray.tap} ${stray.label}`,
    );
  const [fault] = controller.faults;
  if (fault) throw new LabFault(`the lab could not do its work: ${fault}`);
}

async function gather<Environment>(
  lab: OpenLab<Environment>,
  goldens: ReadonlyMap<string, Golden>,
  cases: readonly JudgedCase[],
  laneOf: ReadonlyMap<JudgedCase, OpenLab<Environment>>,
  whose: "all" | "failures",
): Promise<LabResult["evidence"]> {
  const wanted = cases.filter(({ judgement }) => whose === "all" || !passes(judgement.verdict));
  if (wanted.length === 0) return { golden: new Map(), cases: new Map() };
  const golden = new Map<string, readonly EvidenceLine[]>();
  for (const [story, { runs }] of goldens) golden.set(story, await evidenceOfGolden(lab, story, runs[0]));
  const gathered = new Map<JudgedCase, readonly EvidenceLine[]>();
  for (const judged of wanted) gathered.set(judged, await evidenceOfCase(laneOf.get(judged)!, judged));
  return { golden, cases: gathered };
}
