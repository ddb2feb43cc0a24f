import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import {
  operationKey,
  perform,
  type EffectProvider,
  type OperationJournal,
} from "../../activities/operation/index.js";
import { openLedger } from "../../adapters/ledger/database.js";
import { migrate } from "../../adapters/ledger/migrate.js";
import { createOperationJournal } from "../../adapters/ledger/operations/journal.js";

/** How long the provider takes, in milliseconds: what a call to a system in the same data centre takes at best. */
const providerMs = 10;
/** At most this many times the bare call's latency, and at least this part of its throughput. */
const latencyRatioGoal = 1.2;
const throughputRatioGoal = 0.85;

/** Bare and performed calls take turns, so that whatever else the machine does meets both. */
const rounds = 12;
const callsForLatency = 25;
const callsForThroughput = 320;
/** Calls at once. Sixteen keep two cores busy without making either side wait for the other's processor time. */
const concurrency = 16;

export interface PerformBenchResult {
  readonly node: string;
  readonly providerMs: number;
  /** Milliseconds, one call at a time. */
  readonly latency: {
    readonly bare: Percentiles;
    readonly performed: Percentiles;
    readonly ratio: Percentiles;
  };
  /** Calls a second, median of the rounds. */
  readonly throughput: {
    readonly concurrency: number;
    readonly bare: number;
    readonly performed: number;
    readonly ratio: number;
  };
  readonly goals: { readonly latencyRatio: number; readonly throughputRatio: number };
  /** True when the median latency and the throughput reach their goals. */
  readonly meetsGoal: boolean;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface PerformBenchOptions {
  /** A database of its own: it is migrated, and rows stay in it. */
  readonly databaseUrl: string;
  readonly stdout: { write(text: string): unknown };
  /** Prints the result as JSON in place of the lines. */
  readonly json?: boolean;
}

type BenchRequest = { readonly reference: string; readonly amountMinor: number };
type BenchReceipt = { readonly id: string };

/** Measures `perform` beside the bare call to the same provider, in turns, in one run. */
export async function benchPerform({
  databaseUrl,
  stdout,
  json = false,
}: PerformBenchOptions): Promise<PerformBenchResult> {
  await migrate({ url: databaseUrl });
  const ledger = openLedger({ url: databaseUrl, applicationName: "killproof-bench", poolSize: concurrency });
  try {
    const result = await measure(createOperationJournal(ledger));
    stdout.write(json ? `${JSON.stringify(result)}\n` : describe(result));
    return result;
  } finally {
    await ledger.destroy();
  }
}

async function measure(journal: OperationJournal): Promise<PerformBenchResult> {
  const calls = { bare: bareCall, performed: () => performedCall(journal) };
  const latencies = { bare: [] as number[], performed: [] as number[] };
  const rates = { bare: [] as number[], performed: [] as number[] };
  for (const call of Object.values(calls)) {
    await rate(call, callsForLatency); // connections opened and code compiled before anything counts
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ["bare", "performed"] as const) {
      latencies[name].push(...(await latenciesOf(calls[name])));
      rates[name].push(await rate(calls[name], callsForThroughput));
    }
  }
  const latency = { bare: percentiles(latencies.bare), performed: percentiles(latencies.performed) };
  const ratio = {
    p50: latency.performed.p50 / latency.bare.p50,
    p95: latency.performed.p95 / latency.bare.p95,
  };
  const throughput = { bare: percentile(rates.bare, 0.5), performed: percentile(rates.performed, 0.5) };
  const throughputRatio = throughput.performed / throughput.bare;
  return {
    node: process.version,
    providerMs,
    latency: { ...latency, ratio },
    throughput: { concurrency, ...throughput, ratio: throughputRatio },
    goals: { latencyRatio: latencyRatioGoal, throughputRatio: throughputRatioGoal },
    meetsGoal: ratio.p50 <= latencyRatioGoal && throughputRatio >= throughputRatioGoal,
  };
}

const provider: EffectProvider<BenchRequest, BenchReceipt> = {
  name: "bench",
  policy: { honoursKeys: true, keysLiveForMs: null, canFind: false, settleMs: 1_000, parkAfterMs: 60_000 },
  async send(request) {
    await delay(providerMs);
    return { outcome: "done", receipt: { id: request.reference } };
  },
  sameEffect: (request, receipt) => request.reference === receipt.id,
};

const newRequest = (): BenchRequest => ({ reference: randomUUID(), amountMinor: 12_000 });
async function bareCall(): Promise<void> {
  await provider.send(newRequest(), { providerKey: randomUUID(), signal: new AbortController().signal });
}

async function performedCall(journal: OperationJournal): Promise<void> {
  const request = newRequest();
  await perform(
    {
      journal,
      provider,
      key: operationKey({ case: "bench", businessId: request.reference, operation: "send" }),
      request,
      projection: { version: 1, of: (each) => each },
    },
    { attempt: 1, worker: "bench", signal: new AbortController().signal },
  );
}

async function latenciesOf(call: () => Promise<void>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < callsForLatency; index += 1) {
    const begin = performance.now();
    await call();
    taken.push(performance.now() - begin);
  }
  return taken;
}

/** Calls a second. */
async function rate(call: () => Promise<void>, count: number): Promise<number> {
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: concurrency }, lane));
  return (count / (performance.now() - begin)) * 1_000;
}

function percentiles(values: readonly number[]): Percentiles {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95) };
}

function percentile(values: readonly number[], part: number): number {
  const ascending = [...values].sort((one, other) => one - other);
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? Number.NaN;
}

function describe({ latency, throughput, goals, meetsGoal }: PerformBenchResult): string {
  const ms = ({ p50, p95 }: Percentiles) => `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`;
  return [
    `perform beside the bare call, provider of ${providerMs} ms`,
    `  latency, one at a time     bare ${ms(latency.bare)}; performed ${ms(latency.performed)}; ` +
      `ratio p50 ${latency.ratio.p50.toFixed(2)}, p95 ${latency.ratio.p95.toFixed(2)} (goal p50 ≤ ${goals.latencyRatio})`,
    `  throughput, ${throughput.concurrency} at once    bare ${throughput.bare.toFixed(0)}/s; performed ${throughput.performed.toFixed(0)}/s; ` +
      `ratio ${throughput.ratio.toFixed(2)} (goal ≥ ${goals.throughputRatio})`,
    `  ${meetsGoal ? "meets its goals" : "falls short of its goals"}`,
    "",
  ].join("\n");
}
