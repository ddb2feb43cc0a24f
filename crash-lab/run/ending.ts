import type { CaseEvidence } from "../judge/evidence.js";
import { historyEvents } from "../judge/history.js";
import type { CrashLabDefinition, Standing, Story } from "../lab-definition.js";
import type { HeldRun } from "./held-run.js";
import type { Histories } from "./histories.js";
import type { Replayer } from "./replay.js";

/** What was found when the quiet phase of a run had ended. */
export type Found = Pick<CaseEvidence, "ending" | "effects" | "invariants" | "history" | "replay">;

export interface Observers {
  readonly histories: Histories | undefined;
  readonly replayer: Replayer | undefined;
}

/** Waits until the run has ended or the deadline has passed; past it the last standing counts. */
export async function endingOf<Environment>(
  definition: CrashLabDefinition<Environment>,
  environment: Environment,
  run: HeldRun,
  closing: AbortSignal,
): Promise<Standing> {
  const story: Story<Environment> = definition.stories[run.story]!;
  const driving = new AbortController();
  const driver = story.drive?.(environment, run.token, driving.signal) ?? Promise.resolve();
  try {
    const [standing] = await Promise.all([
      story
        .ended(
          environment,
          run.token,
          AbortSignal.any([AbortSignal.timeout(definition.profile.deadlineMs), closing]),
        )
        .finally(() => driving.abort()),
      driver,
    ]);
    return standing;
  } finally {
    driving.abort();
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
    histories?.of(story.workflowIds(run.token)) ?? [],
  ]);
  // A run that never began has no history, and one that goes on has none that could be replayed to its end.
  const replayable = replayer && (ending.state === "closed" || ending.state === "parked");
  return {
    ending,
    effects,
    invariants,
    history: found.flatMap(({ workflowId, history }) => historyEvents(workflowId, history)),
    replay: replayable ? await replayer.replay(found) : { ok: true, detail: "" },
  };
}
