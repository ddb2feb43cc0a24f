import fc from "fast-check";
import type { CaseEngine } from "../../../graph/cases/engine.js";
import type { FunctionLibrary } from "../../../graph/cases/functions.js";
import { blueprint, type Blueprint } from "./blueprint.js";
import { playBoth, type PlayedBoth } from "./play-both.js";

export interface RandomCheck {
  readonly graphs: number;
  readonly seed: number;
  readonly engines: { readonly core: CaseEngine; readonly reference: CaseEngine };
  readonly functions: FunctionLibrary;
  /** Called after each graph, those tried while shrinking included. */
  readonly onPlayed?: (played: PlayedBoth) => void;
}

export interface RandomCheckResult {
  readonly seed: number;
  readonly graphs: number;
  /** Node calls on our engine, over all graphs. */
  readonly tasks: number;
  readonly milliseconds: number;
  /** How many graphs went through what. */
  readonly features: Readonly<Record<string, number>>;
  /** The smallest disagreement that was found, and the path that leads fast-check to it again. */
  readonly found: (PlayedBoth & { readonly shrinkPath: string | null }) | undefined;
}

/** Plays random graphs on both engines until one disagrees, and then makes that one as small as it can. */
export async function checkRandomGraphs(check: RandomCheck): Promise<RandomCheckResult> {
  const { graphs, seed, engines, functions } = check;
  const began = performance.now();
  const features: Record<string, number> = {};
  let tasks = 0;
  let failing = false;
  const property = fc.asyncProperty(blueprint, async (drawn: Blueprint) => {
    const played = await playBoth(drawn, engines, functions);
    check.onPlayed?.(played);
    if (!failing) {
      tasks += played.tasks;
      for (const feature of played.features) features[feature] = (features[feature] ?? 0) + 1;
    }
    failing ||= played.disagreement !== undefined;
    return played.disagreement === undefined;
  });
  const details = await fc.check(property, { numRuns: graphs, seed });
  const milliseconds = performance.now() - began;
  const smallest = details.counterexample?.[0];
  const found = smallest && {
    ...(await playBoth(smallest, engines, functions)),
    shrinkPath: details.counterexamplePath,
  };
  if (details.failed && found === undefined)
    throw new Error(`no counterexample: ${String(details.errorInstance)}`);
  return { seed, graphs: details.numRuns, tasks, milliseconds, features, found };
}
