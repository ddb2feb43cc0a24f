import type { CrashLabDefinition, Standing, Story } from "../lab-definition.js";
import type { CaseEvidence } from "../judge/evidence.js";
import type { HeldRun } from "./held-run.js";
import type { Replayer } from "./replay.js";

/** What was found when the quiet phase of a run had ended. */
export type Found = Pick<CaseEvidence, "ending" | "effects" | "invariants" | "replay">;

/**
 * Waits for the end of one run and collects the facts about it: first the run itself, then what the outside
 * systems still have on its way, then the journals.
 */
export async function findEnding<Environment>(
  definition: CrashLabDefinition<Environment>,
  environment: Environment,
  run: HeldRun,
  replayer: Replayer | undefined,
): Promise<Found> {
  const story = definition.stories[run.story]!;
  const ending = await endingOf(story, environment, run.token, definition.profile.deadlineMs);
  await definition.settled?.(environment, run.token);
  const [effects, invariants, replay] = await Promise.all([
    definition.effects(environment, run.token),
    definition.invariants?.(environment, run.token) ?? [],
    // A run that never began has no history, and one that goes on has none that could be replayed to its end.
    replayer && (ending.state === "closed" || ending.state === "parked")
      ? replayer.replay(story.workflowIds(run.token))
      : { ok: true, detail: "" },
  ]);
  return { ending, effects, invariants, replay };
}

/** Asks until the run has ended or the deadline has passed; past it the last standing counts. */
async function endingOf<Environment>(
  story: Story<Environment>,
  environment: Environment,
  token: string,
  deadlineMs: number,
): Promise<Standing> {
  const driving = new AbortController();
  const driver = story.drive?.(environment, token, driving.signal) ?? Promise.resolve();
  try {
    const [standing] = await Promise.all([
      story.ended(environment, token, AbortSignal.timeout(deadlineMs)).finally(() => driving.abort()),
      driver,
    ]);
    return standing;
  } finally {
    driving.abort();
  }
}
