/** The arithmetic of the comparison of `perform` with the bare call. Pure. */

/** `bare` is the call alone, `performed` the same call through `perform`. */
export interface Pair<Value> {
  readonly bare: Value;
  readonly performed: Value;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface Measured {
  /** Milliseconds of each call, one at a time. */
  readonly latencies: Pair<readonly number[]>;
  /** For each number of calls at once, the calls a second of each round. */
  readonly rates: readonly { readonly atOnce: number; readonly rates: Pair<readonly number[]> }[];
}

export interface Goals {
  /** The median latency is at most so many times that of the bare call. */
  readonly latencyRatio: number;
  /** The throughput is at least this part of the bare call's, at `atOnce` calls at once. */
  readonly throughputRatio: number;
  readonly atOnce: number;
}

export interface PerformFigures {
  /** Milliseconds. */
  readonly latency: Pair<Percentiles> & { readonly ratio: Percentiles };
  /** Calls a second, median of the rounds. */
  readonly throughput: readonly (Pair<number> & { readonly atOnce: number; readonly ratio: number })[];
  readonly goals: Goals;
  /** True when the median latency and the throughput at `goals.atOnce` reach their goals. */
  readonly meetsGoal: boolean;
}

/** @throws RangeError when a figure is missing: a comparison with nothing would look like a good one. */
export function figuresOf({ latencies, rates }: Measured, goals: Goals): PerformFigures {
  const bare = percentiles(latencies.bare);
  const performed = percentiles(latencies.performed);
  const ratio = { p50: performed.p50 / bare.p50, p95: performed.p95 / bare.p95 };
  const throughput = rates.map(({ atOnce, rates: each }) => {
    const medians = { bare: percentile(each.bare, 0.5), performed: percentile(each.performed, 0.5) };
    return { atOnce, ...medians, ratio: medians.performed / medians.bare };
  });
  const judged = throughput.find(({ atOnce }) => atOnce === goals.atOnce);
  if (judged === undefined) throw new RangeError(`no throughput was measured at ${goals.atOnce} at once`);
  const meetsGoal = ratio.p50 <= goals.latencyRatio && judged.ratio >= goals.throughputRatio;
  return { latency: { bare, performed, ratio }, throughput, goals, meetsGoal };
}

export function percentiles(values: readonly number[]): Percentiles {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95) };
}

/** The value that `part` of the values lie at or below (nearest rank). @throws RangeError without values. */
export function percentile(values: readonly number[], part: number): number {
  const ascending = [...values].sort((one, other) => one - other);
  const value = ascending[Math.max(Math.ceil(ascending.length * part) - 1, 0)];
  if (value === undefined) throw new RangeError("no values to take a percentile of");
  return value;
}

export function describeFigures({ latency, throughput, goals, meetsGoal }: PerformFigures): string {
  const ms = ({ p50, p95 }: Percentiles) => `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`;
  return [
    `  latency, one at a time     bare ${ms(latency.bare)}; performed ${ms(latency.performed)}; ` +
      `ratio p50 ${latency.ratio.p50.toFixed(2)}, p95 ${latency.ratio.p95.toFixed(2)} (goal p50 ≤ ${goals.latencyRatio})`,
    ...throughput.map(
      ({ atOnce, bare, performed, ratio }) =>
        `  throughput, ${String(atOnce).padStart(2)} at once    bare ${bare.toFixed(0)}/s; performed ${performed.toFixed(0)}/s; ` +
        `ratio ${ratio.toFixed(2)} (${atOnce === goals.atOnce ? `goal ≥ ${goals.throughputRatio}` : "not judged"})`,
    ),
    `  ${meetsGoal ? "meets its goals" : "falls short of its goals"}`,
  ].join("\n");
}
