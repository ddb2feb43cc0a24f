import type { CaseEvidence, Told } from "../judge/evidence.js";
import { historyEvents } from "../judge/history.js";
import type { CrashLabDefinition, LabProfile, Standing } from "../lab-definition.js";
import type { DeliveredTask } from "../taps/event.js";
import type { Actors } from "./actors.js";
import type { HeldRun } from "./held-run.js";
import type { Histories } from "./histories.js";
import type { Replayer } from "./replay.js";

/** What was found when the quiet phase of a run had ended. */
export type Found = Pick<CaseEvidence, "ending" | "effects" | "invariants" | "history" | "replay">;

export interface Observers {
  readonly histories: Histories | undefined;
  readonly replayer: Replayer | undefined;
}

/** How a run ended, and what its outside actors were told on the way. */
export interface RunEnd {
  readonly standing: Standing;
  readonly told: readonly Told[];
}

interface Ended<Environment> {
  readonly environment: Environment;
  readonly actors: Actors<Environment>;
  readonly profile: LabProfile;
}

/**
 * Waits until the run has ended or the deadline has passed; past it the last standing counts.
 *
 * @throws what an outside actor of the run threw before it had ended
 */
export async function endingOf<Environment>(
  { stories }: CrashLabDefinition<Environment>,
  { environment, actors, profile }: Ended<Environment>,
  run: HeldRun,
  closing: AbortSignal,
): Promise<RunEnd> {
  const signal = AbortSignal.any([AbortSignal.timeout(profile.deadlineMs), closing]);
  const ended = stories[run.story]!.ended(environment, run.token, signal);
  try {
    const standing = await Promise.race([ended, actors.failure(run)]);
    return { standing, told: await actors.end(run) };
  } catch (error) {
    await actors.end(run);
    throw error;
  }
}

/**
 * Collects the facts about a run that has ended: first what the outside systems still have on its way, then the
 * journals and the histories.
 */
export async function factsOf<Environment>(
  definition: CrashLabDefinition<Environment>,
  environment: Environment,
  run: HeldRun,
  ending: Standing,
  { histories, replayer }: Observers,
): Promise<Found> {
  const story = definition.stories[run.story]!;
  await definition.settled?.(environment, run.token);
  const [effects, invariants, found] = await Promise.all([
    definition.effects(environment, run.token),
    definition.invariants?.(environment, run.token) ?? [],
    histories?.of(story.workflowIds(run.token), deliveredTo(run)) ?? [],
  ]);
  // A run that never began has no history, and one that goes on has none that could be replayed to its end.
  const replayable = replayer && (ending.state === "closed" || ending.state === "parked");
  return {
    ending,
    effects,
    invariants,
    history: found.flatMap((each) => historyEvents(each, each.history)),
    replay: replayable ? await replayer.replay(found) : { ok: true, detail: "" },
  };
}

function deliveredTo({ events }: HeldRun): DeliveredTask[] {
  return events.flatMap(({ details }) => (details.kind === "temporal" ? details.delivered : []));
}
