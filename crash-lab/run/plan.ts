/** Which faults a lab is to play: asked for by names, checked against what there is. */
import { createHash } from "node:crypto";
import { messageOf } from "../../platform/errors.js";
import type { CrashLabDefinition, LabProfile } from "../lab-definition.js";
import { meaningOf, type Verb } from "../verbs/verb.js";
import type { Manifest } from "../windows/manifest.js";
import { parseWindowName } from "../windows/window-name.js";
import type { Target } from "./held-run.js";
import { LabFault } from "./lab-fault.js";

/**
 * Those that were asked for, else those of the windows that were, else all.
 *
 * @throws LabFault for a story that the scenario doesn't have, or what is no window's name
 */
export function chosenStories<Environment>(
  { name, stories }: Pick<CrashLabDefinition<Environment>, "name" | "stories">,
  {
    stories: asked,
    windows,
  }: { readonly stories?: readonly string[]; readonly windows?: readonly string[] | undefined },
): readonly string[] {
  requireWindowNames(windows ?? []);
  const ofWindows = [...new Set(windows?.map((window) => parseWindowName(window).story))];
  const wanted = asked ?? (ofWindows.length > 0 ? ofWindows : undefined);
  const known = Object.keys(stories);
  const unknown = wanted?.find((story) => !known.includes(story));
  if (unknown !== undefined)
    throw new LabFault(`${name} has no story "${unknown}"; it has ${known.join(", ")}`);
  return wanted ?? known;
}

/** @throws LabFault for a profile that the scenario doesn't have */
export function chosenProfile<Environment>(
  { name, profile, otherProfiles = [] }: CrashLabDefinition<Environment>,
  wanted: string | undefined,
): LabProfile {
  const known = [profile, ...otherProfiles];
  const chosen = wanted === undefined ? profile : known.find((each) => each.name === wanted);
  if (!chosen)
    throw new LabFault(
      `${name} has no profile "${wanted}"; it has ${known.map((each) => each.name).join(", ")}`,
    );
  return chosen;
}

/** @throws LabFault for what is no window's name; called before anything is started */
function requireWindowNames(windows: readonly string[]): void {
  for (const window of windows) {
    try {
      parseWindowName(window);
    } catch (error) {
      throw new LabFault(messageOf(error));
    }
  }
}

/** A window that was asked for by name, and that no undisturbed run came by. */
export class UnknownWindow extends LabFault {}

/** @throws UnknownWindow for a window that no golden run came by */
export function requireKnown(windows: readonly string[], manifest: Manifest): void {
  const known = new Set(manifest.map(({ window }) => window));
  const unknown = windows.find((window) => !known.has(window));
  if (unknown !== undefined)
    throw new UnknownWindow(
      `no undisturbed run came by the window "${unknown}"; the manifest lists those there are`,
    );
}

export interface Choice {
  readonly verbs: readonly Verb[];
  readonly windows?: readonly string[] | undefined;
  /** With `windows`: and this share of the others, from 0 to 1; the same ones for the same seed. */
  readonly sample?: { readonly share: number; readonly seed: string } | undefined;
  /** How often each is played; default 1. */
  readonly repeat?: number | undefined;
}

/** The faults of one story, in the order of the manifest. */
export function targetsOf<Environment>(
  { stories }: CrashLabDefinition<Environment>,
  manifest: Manifest,
  { verbs, windows, sample, repeat = 1 }: Choice,
): readonly Target[] {
  const chosen = manifest.filter(({ window }) => {
    const { story, process } = parseWindowName(window);
    return (
      stories[story]!.victims.includes(process) &&
      (!windows || windows.includes(window) || inSample(window, sample))
    );
  });
  const targets = verbs.flatMap((verb) =>
    chosen
      .filter(
        ({ window }) =>
          (meaningOf(verb).side ?? parseWindowName(window).side) === parseWindowName(window).side,
      )
      .map(({ window }) => ({ window, verb })),
  );
  return Array.from({ length: repeat }, () => targets).flat();
}

/** Decided by the window's own name, so that a window that comes or goes changes nothing for the others. */
function inSample(window: string, sample: Choice["sample"]): boolean {
  if (!sample) return false;
  const digest = createHash("sha256").update(`${sample.seed} ${window}`).digest();
  return digest.readUInt32BE() < sample.share * 2 ** 32;
}
