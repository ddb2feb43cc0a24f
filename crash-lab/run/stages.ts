/**
 * Windows that a run comes to at very different times don't fit into one round: those that come first would be held
 * for as long as the others are on their way, past what the server bears. So they are parted where the story itself
 * waits, for a deadline or for somebody outside.
 */
import type { Target } from "./held-run.js";

/** When an undisturbed run came to a window, in milliseconds from its start; undefined when it never did. */
export type ArrivalMs = (window: string) => number | undefined;

/**
 * @param gapMsMax a wait longer than this between two neighbouring arrivals parts them
 * @returns the targets in stages, the earliest first; within a stage in the order in which they were given
 */
export function stagesOf(targets: readonly Target[], arrivalMs: ArrivalMs, gapMsMax: number): Target[][] {
  const times = [...new Set(targets.map(({ window }) => arrivalMs(window) ?? 0))].sort((a, b) => a - b);
  const begins = times.filter((time, at) => at === 0 || time - times[at - 1]! > gapMsMax);
  return begins.map((begin, at) => {
    const end = begins[at + 1] ?? Infinity;
    return targets.filter(({ window }) => {
      const time = arrivalMs(window) ?? 0;
      return time >= begin && time < end;
    });
  });
}
