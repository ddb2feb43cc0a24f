/**
 * What a case of the track record is: a fault that happened to others, told as a small story in several variants, each
 * played twice, by code as one writes it at first and by ours, against the same outside world.
 */
import type { Stage } from "./stage.js";

/** `naive`: without the protection the case is about. `right`: the production processes. */
export const sides = ["naive", "right"] as const;
export type Side = (typeof sides)[number];

/**
 * Judged by what the outside systems hold and by what our side says of it:
 *
 * - `once`: the effect is there once, with what was approved, and our side knows which it is;
 * - `duplicated`: it is there more than once;
 * - `diverged`: it is there with something else than what was approved;
 * - `lost`: our side says that it isn't there, or doesn't know which it is;
 * - `parked`: our side says that it can't know, and a person is asked.
 */
export const verdicts = ["once", "duplicated", "diverged", "lost", "parked"] as const;
export type Verdict = (typeof verdicts)[number];

export interface Outcome {
  readonly verdict: Verdict;
  /** What the outside systems hold, for people. */
  readonly outside: string;
  /** What our side says, for people. */
  readonly inside: string;
}

export interface Variant {
  /** Within its case: `a`. */
  readonly id: string;
  readonly tells: string;
  /** What has to come out on each side; anything else is a finding. */
  readonly expected: Readonly<Record<Side, Verdict>>;
  /** @throws Error when the story didn't come to where it wanted to act, which is no verdict. */
  play(stage: Stage, side: Side): Promise<Outcome>;
}

export interface PublicCase {
  /** `O5` */
  readonly id: string;
  readonly title: string;
  /** Public issues and pull requests it was distilled from. */
  readonly sources: readonly string[];
  /** What happened there, in our words. */
  readonly happened: string;
  readonly variants: readonly Variant[];
}
