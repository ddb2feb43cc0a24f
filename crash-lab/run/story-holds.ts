/** The messages that a story itself makes wait, so that a race goes the same way in every run. */
import type { CrashLabDefinition, StoryHold } from "../lab-definition.js";
import { forward, type BoundaryEvent, type Decision } from "../taps/event.js";
import type { HeldRun } from "./held-run.js";

/** What the story wants for an event of one of its runs; `forward` when it has no opinion. */
export type StoryDecision = (run: HeldRun, event: BoundaryEvent) => Decision;

/** @param closing aborted when the lab ends, so that nothing waits for a fact that won't come any more */
export function storyHolds<Environment>(
  { stories }: Pick<CrashLabDefinition<Environment>, "stories">,
  environment: Environment,
  closing: AbortSignal,
): StoryDecision {
  return (run, event) => {
    const hold = stories[run.story]?.holds?.find((each) => matches(each, event));
    if (!hold) return forward;
    return { do: "hold", until: hold.until(environment, run.token, closing).then(() => forward) };
  };
}

function matches<Environment>(hold: StoryHold<Environment>, event: BoundaryEvent): boolean {
  const { process, tap, side, label } = hold;
  if (event.process !== process || event.tap !== tap || event.side !== side) return false;
  return typeof label === "string" ? event.label === label : label.test(event.label);
}
