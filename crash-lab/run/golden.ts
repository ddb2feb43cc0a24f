import { messageOf } from "../../platform/errors.js";
import type { GoldenOutcome } from "../judge/evidence.js";
import { manifestOf, type Manifest } from "../windows/manifest.js";
import type { Found } from "./ending.js";
import { LabFault } from "./lab-fault.js";
import { HeldRun } from "./held-run.js";
import type { RoundLab } from "./round.js";
import type { ArrivalMs } from "./stages.js";

/** What two undisturbed runs of a story showed. */
export interface Golden {
  readonly manifest: Manifest;
  readonly outcome: GoldenOutcome;
  /** When the second run, which found everything warm, came to each of its windows: milliseconds from its first event. */
  readonly arrivalMs: ArrivalMs;
  /** The two runs, with all that the taps saw of them. */
  readonly runs: readonly [GoldenRun, GoldenRun];
}

export interface GoldenRun {
  readonly run: HeldRun;
  readonly found: Found;
}

/** What undisturbed runs need: also a look at what the processes are connected to, at each of their events. */
export type GoldenLab = RoundLab & { readonly inspectPeers: () => Promise<void> };

/**
 * Runs a story twice without a fault, one after the other.
 *
 * @throws LabFault when it doesn't end, breaks an invariant, can't be replayed, has no window, or ends with other
 *   effects the second time: then nothing that a fault does could be told from what the story does by itself
 */
export async function goldenRuns(lab: GoldenLab, story: string): Promise<Golden> {
  const first = await undisturbed(lab, story);
  const second = await undisturbed(lab, story);
  const difference = differenceBetween(first.found, second.found);
  if (difference) throw new LabFault(`story ${story} ends differently each time: ${difference}`);
  if (first.run.windows().length === 0)
    throw new LabFault(`story ${story} crosses no tap, so there is no window to try`);
  return {
    manifest: manifestOf(new Set(first.run.windows()), new Set(second.run.windows())),
    outcome: first.found,
    arrivalMs: arrivalsOf(second.run),
    runs: [first, second],
  };
}

function arrivalsOf({ seen, events }: HeldRun): ArrivalMs {
  const begin = events[0]?.at ?? 0;
  const times = new Map<string, number>();
  for (const { window, event } of seen) if (!times.has(window)) times.set(window, event.at - begin);
  return (window) => times.get(window);
}

async function undisturbed(lab: GoldenLab, story: string): Promise<GoldenRun> {
  const run = new HeldRun(lab.newToken(), story, undefined, lab.inspectPeers);
  lab.add(run);
  const fails = (why: string): never => {
    throw new LabFault(`story ${story} fails undisturbed: ${why}`);
  };
  const found = await lab
    .start(run)
    .then(async () => lab.facts(run, (await lab.ending(run)).standing))
    .catch((error: unknown) => fails(messageOf(error)));
  const { ending, invariants, replay } = found;
  lab.retire(run);
  if (ending.state === "open") fails(`still pending: ${ending.pending.join(", ")}`);
  if (ending.state === "absent") fails("nothing was started");
  if (ending.state === "parked") fails(`it parked, with the recovery row ${ending.recoveryRow}`);
  const broken = invariants.find(({ holds }) => !holds);
  if (broken) fails(`invariant ${broken.name}: ${broken.detail}`);
  if (!replay.ok) fails(`replay: ${replay.detail}`);
  return { run, found };
}

function differenceBetween(first: GoldenOutcome, second: GoldenOutcome): string | undefined {
  const lines = ({ effects }: GoldenOutcome): string[] =>
    effects.map(({ system, subject, contentDigest }) => `${system} ${subject} ${contentDigest}`).sort();
  const [before, after] = [lines(first), lines(second)];
  const only = (mine: string[], others: string[]): string | undefined =>
    mine.find((line) => !others.includes(line));
  return (
    only(before, after) ??
    only(after, before) ??
    (before.length === after.length ? undefined : `${before.length} effects, then ${after.length}`)
  );
}
