import { availableParallelism } from "node:os";

/** How many lanes the cores can bear: while one waits for time-outs, another works. */
export function lanesByCores(): number {
  return Math.max(1, availableParallelism());
}

/** So much apart runs came to their windows on two cores that had other work as well; less only means fewer kills. */
const msPerArrival = 120;

/**
 * How many runs a round holds. More in one round means fewer kills, but holding must stay well under the time-out of
 * a workflow task, past which the server starts a second attempt beside the held one.
 */
export class RoundSize {
  #size: number;

  constructor(
    private readonly holdMsMax: number,
    /** Where to begin. */
    first = Math.max(1, Math.round(holdMsMax / msPerArrival)),
    /** On two cores about 26 runs were held in 0.8 s, and 52 ran into time-outs. */
    private readonly sizeMax = 26,
  ) {
    this.#size = Math.min(first, sizeMax);
  }

  get current(): number {
    return this.#size;
  }

  /** Learns from a round: how long it held, and how many of its runs had not come to their windows by then. */
  learn(round: { readonly holdMs: number; readonly notReached: number }): void {
    if (round.notReached > 0 || round.holdMs > this.holdMsMax)
      this.#size = Math.max(1, Math.floor(this.#size / 2));
    else if (round.holdMs < this.holdMsMax / 2)
      this.#size = Math.min(this.sizeMax, Math.ceil(this.#size * 1.5));
  }
}
