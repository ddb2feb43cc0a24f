/** The arithmetic of the comparison of `perform` with the bare call. Pure. */

/**
 * The three that are compared. `bare` is the call alone. `committed` is the call between two bare commits: a row of a
 * table with nothing but a key, inserted before it and updated after it, by the driver alone; no record that outlives
 * a crash can cost less. `performed` is the same call through `perform`.
 */
export const contenders = ["bare", "committed", "performed"] as const;
export type Contender = (typeof contenders)[number];
export type OfEach<Value> = Readonly<Record<Contender, Value>>;
/** Of those that are compared with the bare call. */
type OfOthers<Value> = Readonly<Record<Exclude<Contender, "bare">, Value>>;

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface Measured {
  /** Milliseconds of each call, one at a time. */
  readonly latencies: OfEach<readonly number[]>;
  /** For each number of calls at once, the calls a second of each round. */
  readonly rates: readonly { readonly atOnce: number; readonly rates: OfEach<readonly number[]> }[];
}

export interface Goals {
  /** The median latency of a performed call is at most so many times that of the bare call. */
  readonly latencyRatio: number;
  /** The throughput is at least this part of the bare call's, at `atOnce` calls at once. */
  readonly throughputRatio: number;
  readonly atOnce: number;
}

export interface PerformFigures {
  /** Milliseconds. */
  readonly latency: OfEach<Percentiles> & { readonly ratio: OfOthers<Percentiles> };
  /** Calls a second, median of the rounds. */
  readonly throughput: readonly (OfEach<number> & {
    readonly atOnce: number;
    readonly ratio: OfOthers<number>;
  })[];
  readonly goals: Goals;
  /** True when the median latency and the throughput at `goals.atOnce` reach their goals. */
  readonly meetsGoal: boolean;
}

/** @throws RangeError when a figure is missing: a comparison with nothing would look like a good one. */
export function figuresOf({ latencies, rates }: Measured, goals: Goals): PerformFigures {
  const latency = eachOf((name) => percentiles(latencies[name]));
  const latencyRatio = othersOf((name) => ({
    p50: latency[name].p50 / latency.bare.p50,
    p95: latency[name].p95 / latency.bare.p95,
  }));
  const throughput = rates.map(({ atOnce, rates: each }) => {
    const medians = eachOf((name) => percentile(each[name], 0.5));
    return { atOnce, ...medians, ratio: othersOf((name) => medians[name] / medians.bare) };
  });
  const judged = throughput.find(({ atOnce }) => atOnce === goals.atOnce);
  if (judged === undefined) throw new RangeError(`no throughput was measured at ${goals.atOnce} at once`);
  const meetsGoal =
    latencyRatio.performed.p50 <= goals.latencyRatio && judged.ratio.performed >= goals.throughputRatio;
  return { latency: { ...latency, ratio: latencyRatio }, throughput, goals, meetsGoal };
}

export function eachOf<Value>(of: (name: Contender) => Value): OfEach<Value> {
  return { bare: of("bare"), ...othersOf(of) };
}

function othersOf<Value>(of: (name: Exclude<Contender, "bare">) => Value): OfOthers<Value> {
  return { committed: of("committed"), performed: of("performed") };
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

/** One line for each figure: the bare call, the call between two bare commits, the performed call, and the ratios. */
export function describeFigures({ latency, throughput, goals, meetsGoal }: PerformFigures): string {
  const latencyLine = (part: keyof Percentiles, goal: string) => {
    const { ratio } = latency;
    return (
      `  latency, one at a time, ${part}  bare ${latency.bare[part].toFixed(1)} ms; ` +
      `between two bare commits ${latency.committed[part].toFixed(1)} ms, ratio ${ratio.committed[part].toFixed(2)}; ` +
      `performed ${latency.performed[part].toFixed(1)} ms, ratio ${ratio.performed[part].toFixed(2)} (${goal})`
    );
  };
  return [
    latencyLine("p50", `goal ≤ ${goals.latencyRatio}`),
    latencyLine("p95", "not judged"),
    ...throughput.map(
      ({ atOnce, bare, committed, performed, ratio }) =>
        `  throughput, ${String(atOnce).padStart(2)} at once         bare ${bare.toFixed(0)}/s; ` +
        `between two bare commits ${committed.toFixed(0)}/s, ratio ${ratio.committed.toFixed(2)}; ` +
        `performed ${performed.toFixed(0)}/s, ratio ${ratio.performed.toFixed(2)} ` +
        `(${atOnce === goals.atOnce ? `goal ≥ ${goals.throughputRatio}` : "not judged"})`,
    ),
    `  ${meetsGoal ? "meets its goals" : "falls short of its goals"}`,
  ].join("\n");
}
