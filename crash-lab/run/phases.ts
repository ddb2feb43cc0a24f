/** Where a lane's time goes, round by round. */

export const phaseNames = [
  /** From the start of a round's runs to the first one at its window. */
  "travel",
  /** From there until the round's fault falls, while the others come to their windows. */
  "hold",
  /** Signal, reaping, and the end of the connections on both sides. */
  "kill",
  /** Until the standby works; it is nothing when the standby was ready in time. */
  "standby",
  /** From there to the end of the last run of the round. */
  "recover",
  /** Waiting for journals, histories and replays that had not been done beside the next round. */
  "judge",
] as const;

export type Phase = (typeof phaseNames)[number];

/** Milliseconds in each phase, added up. */
export class PhaseTimes {
  readonly #ms = new Map<Phase, number>();

  add(phase: Phase, ms: number): void {
    this.#ms.set(phase, (this.#ms.get(phase) ?? 0) + ms);
  }

  /** @returns what the act returns, having added how long it took */
  async during<T>(phase: Phase, act: () => Promise<T>): Promise<T> {
    const begin = performance.now();
    try {
      return await act();
    } finally {
      this.add(phase, performance.now() - begin);
    }
  }

  of(phase: Phase): number {
    return this.#ms.get(phase) ?? 0;
  }
}

/** All lanes together; they overlap, so the sum is more than the time that passed. */
export function totalOf(lanes: readonly PhaseTimes[]): Record<Phase, number> {
  return Object.fromEntries(
    phaseNames.map((phase) => [phase, Math.round(lanes.reduce((sum, lane) => sum + lane.of(phase), 0))]),
  ) as Record<Phase, number>;
}
