import type { CrashCase } from "./crash-report.js";

/** Times to recover, in milliseconds from the fault to the run's end. */
export interface Recovery {
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** `undefined` when no case has a time: only those of rounds of one have their own. */
export function recoveryOf(cases: readonly CrashCase[]): Recovery | undefined {
  const times = cases
    .flatMap(({ recoverMs }) => (recoverMs === null ? [] : [recoverMs]))
    .sort((a, b) => a - b);
  if (times.length === 0) return undefined;
  const part = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { count: times.length, p50Ms: part(0.5), p95Ms: part(0.95) };
}

export const recoveryLine = ({ count, p50Ms, p95Ms }: Recovery): string =>
  `time to recover, from the fault to the run's end: p50 ${p50Ms.toFixed(0)} ms, p95 ${p95Ms.toFixed(0)} ms, of ${count}`;
