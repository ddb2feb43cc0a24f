import { openRun, type Run } from "../../platform/run.js";
import type { CrashLabDefinition } from "../lab-definition.js";
import { crashReportSchemaName, totalsOf, type CrashCase, type CrashReport } from "../report/crash-report.js";
import type { Verb } from "../verbs/verb.js";
import { driftBetween, manifestHash, type Drift, type Manifest } from "../windows/manifest.js";
import { parseWindowName } from "../windows/window-name.js";
import { goldenRuns, type Golden } from "./golden.js";
import { LabFault } from "./lab-fault.js";
import { openLab, type OpenLab } from "./open-lab.js";
import { playCases, type JudgedCase } from "./play-cases.js";
import { RoundSize } from "./round-size.js";

export interface LabOptions {
  readonly version: string;
  readonly verbs: readonly Verb[];
  /** Only these stories; all by default. */
  readonly stories?: readonly string[];
  /** Only these windows; all that were found by default. */
  readonly windows?: readonly string[];
  /** The committed manifest; without one nothing is compared. */
  readonly manifest?: Manifest;
  /** The most runs in a round; 1 is the serial mode. */
  readonly roundSizeMax?: number;
  readonly progress: LabProgress;
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
}

/**
 * Runs a crash lab: finds the windows in undisturbed runs, plays the faults at each, judges.
 *
 * @throws LabFault when the lab can't do its work: the story fails undisturbed, an unknown window or story is asked
 *   for, a process doesn't start, events belong to nobody, a process goes past the taps
 */
export async function runCrashLab<Environment>(
  definition: CrashLabDefinition<Environment>,
  options: LabOptions,
): Promise<LabResult> {
  const stories = chosenStories(definition, options.stories);
  const run = await openRun({ name: "lab" });
  try {
    return await play(definition, options, stories, run);
  } finally {
    await run.close();
  }
}

async function play<Environment>(
  definition: CrashLabDefinition<Environment>,
  options: LabOptions,
  stories: readonly string[],
  run: Run,
): Promise<LabResult> {
  const lab = await openLab(definition, run);
  const goldens = new Map<string, Golden>();
  for (const story of stories) {
    const golden = await goldenRuns(lab, story);
    requireAttributed(lab);
    await nothingPastTheTaps(lab);
    goldens.set(story, golden);
    options.progress.golden(story, golden.manifest);
  }
  const manifest = [...goldens.values()].flatMap((golden) => golden.manifest);
  requireKnown(options.windows ?? [], manifest);

  const startedAt = Date.now();
  const plan = [...goldens].map(([story, golden]) => ({
    story,
    golden,
    targets: targetsOf(golden, definition, options),
  }));
  const all = plan.reduce((sum, { targets }) => sum + targets.length, 0);
  const cases: JudgedCase[] = [];
  for (const { story, golden, targets } of plan)
    await playCases(lab, targets, {
      story,
      golden: golden.outcome,
      expectations: definition.expectations ?? [],
      size: new RoundSize(lab.holdMsMax, options.roundSizeMax, options.roundSizeMax),
      signal: run.closing,
      onCase: (judged) => {
        cases.push(judged);
        options.progress.judged(judged, cases.length, all);
      },
    });
  const seconds = (Date.now() - startedAt) / 1000;
  requireAttributed(lab);
  return {
    manifest,
    drift: options.manifest ? driftBetween(options.manifest, manifest) : null,
    cases,
    report: reportOf(definition, options, manifest, cases, seconds),
  };
}

function targetsOf<Environment>(
  { manifest }: Golden,
  definition: CrashLabDefinition<Environment>,
  { windows, verbs }: LabOptions,
) {
  const chosen = manifest.filter(({ window }) => {
    const { story, process } = parseWindowName(window);
    return definition.stories[story]!.victims.includes(process) && (!windows || windows.includes(window));
  });
  // An answer that is withheld has taken effect, so only the side after has one to drop.
  return verbs.flatMap((verb) =>
    chosen
      .filter(({ window }) => verb !== "drop-answer" || parseWindowName(window).side === "after")
      .map(({ window }) => ({ window, verb })),
  );
}

function chosenStories<Environment>(
  { name, stories }: CrashLabDefinition<Environment>,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const known = Object.keys(stories);
  const unknown = wanted?.find((story) => !known.includes(story));
  if (unknown !== undefined)
    throw new LabFault(`${name} has no story "${unknown}"; it has ${known.join(", ")}`);
  return wanted ?? known;
}

function requireKnown(windows: readonly string[], manifest: Manifest): void {
  const known = new Set(manifest.map(({ window }) => window));
  for (const window of windows) {
    parseWindowName(window);
    if (!known.has(window))
      throw new LabFault(`no run came by the window "${window}"; the manifest lists those there are`);
  }
}

/** A connection that leads past the taps is a boundary the lab can't see, so its silence would prove nothing. */
async function nothingPastTheTaps<Environment>(lab: OpenLab<Environment>): Promise<void> {
  for (const instance of lab.slots.all()) {
    const [past] = await instance.untappedPeers(new Set());
    if (past)
      throw new LabFault(
        `process ${instance.name} (${past.pid}) is connected to ${past.remoteAddress}:${past.remotePort}, past the taps`,
      );
  }
}

function requireAttributed<Environment>({ controller }: OpenLab<Environment>): void {
  const [stray] = controller.strays;
  if (stray)
    throw new LabFault(
      `${controller.strays.length} event(s) belong to no run, the first: ${stray.process}/${stray.tap} ${stray.label}`,
    );
  const [fault] = controller.faults;
  if (fault) throw new LabFault(`a tap could not do its work: ${fault}`);
}

function reportOf<Environment>(
  definition: CrashLabDefinition<Environment>,
  options: LabOptions,
  manifest: Manifest,
  cases: readonly JudgedCase[],
  seconds: number,
): CrashReport {
  const count = (pick: (window: ReturnType<typeof parseWindowName>) => string): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { window } of manifest) {
      const name = pick(parseWindowName(window));
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  };
  const scenarios = [
    {
      name: definition.name,
      manifest: {
        hash: manifestHash(manifest),
        stable: manifest.filter(({ stable }) => stable).length,
        unstable: manifest.filter(({ stable }) => !stable).length,
        stories: count(({ story }) => story),
        byTap: count(({ tap }) => tap),
      },
      cases: cases.map((judged) => caseOf(definition.name, judged, options.roundSizeMax === 1)),
      mutants: [],
    },
  ];
  return {
    schema: crashReportSchemaName,
    version: options.version,
    profile: definition.profile.name,
    scenarios,
    totals: totalsOf(scenarios, seconds),
  };
}

function caseOf(
  scenario: string,
  { target, judgement, evidence, recoverMs }: JudgedCase,
  alone: boolean,
): CrashCase {
  const { story, process, tap, side } = parseWindowName(target.window);
  const { victim } = evidence.fault;
  return {
    window: target.window,
    story,
    process,
    tap,
    side,
    verb: target.verb,
    verdict: judgement.verdict,
    detail: judgement.detail,
    victim: victim ? { pid: victim.pid, signal: victim.signal, identity: victim.identity } : null,
    // With many runs in a round they recover beside each other, and the time is the round's.
    recoverMs: alone ? recoverMs : null,
    repeat: `killproof crash ${scenario} --verb ${target.verb} --window '${target.window}'`,
  };
}
