import type { GoldenOutcome } from "../judge/evidence.js";
import { manifestOf, type Manifest } from "../windows/manifest.js";
import { LabFault } from "./lab-fault.js";
import { HeldRun } from "./held-run.js";
import type { RoundLab } from "./round.js";

/** What two undisturbed runs of a story showed. */
export interface Golden {
  readonly manifest: Manifest;
  readonly outcome: GoldenOutcome;
}

/**
 * Runs a story twice without a fault, one after the other.
 *
 * @throws LabFault when it doesn't end, breaks an invariant, can't be replayed, has no window, or ends with other
 *   effects the second time: then nothing that a fault does could be told from what the story does by itself
 */
export async function goldenRuns(lab: RoundLab, story: string): Promise<Golden> {
  const first = await undisturbed(lab, story);
  const second = await undisturbed(lab, story);
  const difference = differenceBetween(first.outcome, second.outcome);
  if (difference) throw new LabFault(`story ${story} ends differently each time: ${difference}`);
  if (first.windows.size === 0)
    throw new LabFault(`story ${story} crosses no tap, so there is no window to try`);
  return { manifest: manifestOf(first.windows, second.windows), outcome: first.outcome };
}

async function undisturbed(
  lab: RoundLab,
  story: string,
): Promise<{ windows: Set<string>; outcome: GoldenOutcome }> {
  const run = new HeldRun(lab.newToken(), story, undefined);
  lab.add(run);
  await lab.start(run);
  const { ending, effects, invariants, replay } = await lab.ending(run);
  lab.retire(run);
  const fails = (why: string): never => {
    throw new LabFault(`story ${story} fails undisturbed: ${why}`);
  };
  if (ending.state === "open") fails(`still pending: ${ending.pending.join(", ")}`);
  if (ending.state === "absent") fails("nothing was started");
  const broken = invariants.find(({ holds }) => !holds);
  if (broken) fails(`invariant ${broken.name}: ${broken.detail}`);
  if (!replay.ok) fails(`replay: ${replay.detail}`);
  return { windows: new Set(run.windows()), outcome: { effects } };
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
