/** Plays cases, each variant on both sides at once, and compares what came out with what had to. */
import { sides, type Outcome, type PublicCase, type Side, type Variant, type Verdict } from "./case.js";
import type { Stage } from "./stage.js";

export interface Played {
  readonly case: string;
  readonly variant: string;
  readonly side: Side;
  readonly expected: Verdict;
  readonly outcome: Outcome;
}

/**
 * @param told called when a variant's two sides have been judged
 * @throws Error when a story didn't come to where it wanted to act
 */
export async function playCase(
  stage: Stage,
  publicCase: PublicCase,
  told: (variant: Variant, played: readonly Played[]) => void = () => undefined,
): Promise<readonly Played[]> {
  const all: Played[] = [];
  for (const variant of publicCase.variants) {
    // Both are awaited, also when one fails: its processes must not go on beside the next variant.
    const ends = await Promise.allSettled(sides.map((side) => variant.play(stage, side)));
    const played = ends.map((end, index): Played => {
      const side = sides[index]!;
      if (end.status === "rejected") {
        const { message } = end.reason as Error;
        throw new Error(`${publicCase.id} ${variant.id}, ${side}: ${message}`, { cause: end.reason });
      }
      return {
        case: publicCase.id,
        variant: variant.id,
        side,
        expected: variant.expected[side],
        outcome: end.value,
      };
    });
    told(variant, played);
    all.push(...played);
  }
  return all;
}
