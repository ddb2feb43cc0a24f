import { randomUUID } from "node:crypto";

import { sql } from "kysely";

import { operationKey, perform, type OperationJournal } from "../../activities/operation/index.js";
import { openLedger, type Ledger } from "../../adapters/ledger/database.js";
import { migrate } from "../../adapters/ledger/migrate.js";
import { createOperationJournal } from "../../adapters/ledger/operations/journal.js";
import { startDatabase, type Run } from "../../platform/index.js";
import {
  contenders,
  describeFigures,
  eachOf,
  figuresOf,
  percentile,
  percentiles,
  type Contender,
  type Goals,
  type OfEach,
  type Percentiles,
  type PerformFigures,
} from "./perform-figures.js";
import { leastJournal, type LeastJournal } from "./least-journal.js";
import { startSlowProvider, type BenchRequest, type SlowProvider } from "./slow-provider.js";

/** How long the provider takes, in milliseconds: what a call to a system in the same data centre takes at best. */
const providerMs = 10;

/** Calls at once beside the latency of one: what a worker has open at one outside system, and a full machine. */
const callsAtOnce = [4, 16] as const;

/**
 * The throughput is judged at four at once. That is some 350 postings a second at one accounting system, far more
 * than any of the processes here asks of it, and the machine still has time left, so that the ratio says what an
 * operation waits for. At sixteen the bare call fills a part of two cores and an operation needs more than both, so
 * there the ratio says how many cores the machine has. It is printed too.
 */
const goals: Goals = { latencyRatio: 1.2, throughputRatio: 0.85, atOnce: 4 };

/**
 * The contenders take turns in short rounds, and each round begins with another one, so that whatever else the machine
 * does meets all of them.
 */
const rounds = 24;
const callsForLatency = 12;
const callsForThroughput = 8; // for each lane

/**
 * Every connection prepares its statements at their first use, and the server plans the first five uses anew. More
 * than that many calls for each connection are over before anything counts.
 */
const warmUpCalls = 16 * 20;

export interface PerformBenchResult extends PerformFigures {
  readonly node: string;
  readonly providerMs: number;
  /** Processor time of this process for each call, in milliseconds, 16 at once; that of the others isn't in it. */
  readonly processorMs: OfEach<number>;
  /** Milliseconds of a commit that writes next to nothing, without a pause between two: what the disk takes. */
  readonly commit: Percentiles;
}

export interface PerformBenchOptions {
  readonly stdout: { write(text: string): unknown };
  /** Prints the result as JSON in place of the lines. */
  readonly json?: boolean;
}

/**
 * Measures `perform` beside the bare call to the same provider, and beside that call between two bare commits, in
 * turns, in one run. The ledger and the provider are processes of their own.
 */
export async function benchPerform(
  run: Run,
  { stdout, json = false }: PerformBenchOptions,
): Promise<PerformBenchResult> {
  const [{ url }, provider] = await Promise.all([
    startDatabase(run, { name: "ledger" }),
    startSlowProvider(run, providerMs),
  ]);
  await migrate({ url });
  const poolSize = Math.max(...callsAtOnce);
  const ledger = openLedger({
    url,
    applicationName: "killproof-bench",
    poolSize,
    // The pool's end doesn't wait for its sockets, and the server is stopped right after it.
    onIdleConnectionLost: () => undefined,
  });
  const least = await leastJournal(url, poolSize);
  try {
    const result = await measure(ledger, least, provider);
    stdout.write(json ? `${JSON.stringify(result)}\n` : describe(result));
    return result;
  } finally {
    await Promise.all([ledger.destroy(), least.close()]);
  }
}

async function measure(
  ledger: Ledger,
  least: LeastJournal,
  provider: SlowProvider,
): Promise<PerformBenchResult> {
  const journal = createOperationJournal(ledger);
  let made = 0;
  const counted = (call: () => Promise<void>) => async () => {
    made += 1;
    await call();
  };
  const calls: OfEach<() => Promise<void>> = {
    bare: counted(() => bareCall(provider)),
    committed: counted(() => committedCall(least, provider)),
    performed: counted(() => performedCall(journal, provider)),
  };
  for (const name of contenders) await inLanes(calls[name], Math.max(...callsAtOnce), warmUpCalls);
  const latencies = listsOfEach();
  const rates = callsAtOnce.map((atOnce) => ({ atOnce, rates: listsOfEach() }));
  const processor = listsOfEach();
  const commits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    commits.push(...(await latenciesOf(() => emptyCommit(ledger))));
    for (const name of turnsOf(round)) {
      latencies[name].push(...(await latenciesOf(calls[name])));
      for (const at of rates) {
        const measured = await rateOf(calls[name], at.atOnce, at.atOnce * callsForThroughput);
        at.rates[name].push(measured.callsPerSecond);
        if (at.atOnce === 16) processor[name].push(measured.processorMs);
      }
    }
  }
  const received = await provider.received();
  if (received.sends !== made || received.keys !== made) {
    throw new Error(
      `${made} calls were made, and the provider saw ${received.sends} under ${received.keys} keys`,
    );
  }
  return {
    node: process.version,
    providerMs,
    ...figuresOf({ latencies, rates }, goals),
    processorMs: eachOf((name) => percentile(processor[name], 0.5)),
    commit: percentiles(commits),
  };
}

const listsOfEach = (): OfEach<number[]> => eachOf(() => []);

function turnsOf(round: number): readonly Contender[] {
  const first = round % contenders.length;
  return [...contenders.slice(first), ...contenders.slice(0, first)];
}

async function emptyCommit(ledger: Ledger): Promise<void> {
  await sql`select pg_logical_emit_message(true, 'bench', '')`.execute(ledger);
}

const newRequest = (): BenchRequest => ({ reference: randomUUID(), amountMinor: 12_000 });

async function bareCall(provider: SlowProvider): Promise<void> {
  const { signal } = new AbortController();
  const answer = await provider.send(newRequest(), { providerKey: randomUUID(), signal });
  if (answer.outcome !== "done") throw new Error(`the bare call ended ${answer.outcome}`);
}

async function committedCall(least: LeastJournal, provider: SlowProvider): Promise<void> {
  const key = randomUUID();
  await least.begin(key);
  await bareCall(provider);
  await least.end(key);
}

async function performedCall(journal: OperationJournal, provider: SlowProvider): Promise<void> {
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

async function rateOf(call: () => Promise<void>, atOnce: number, count: number) {
  const used = process.cpuUsage();
  const begin = performance.now();
  await inLanes(call, atOnce, count);
  const tookMs = performance.now() - begin;
  const { user, system } = process.cpuUsage(used);
  return { callsPerSecond: (count / tookMs) * 1_000, processorMs: (user + system) / 1_000 / count };
}

async function inLanes(call: () => Promise<void>, atOnce: number, count: number): Promise<void> {
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

function describe(result: PerformBenchResult): string {
  const { commit, processorMs } = result;
  return [
    `perform beside the bare call over HTTP, provider of ${result.providerMs} ms in a process of its own`,
    describeFigures(result),
    `  processor time here, a call: bare ${processorMs.bare.toFixed(2)} ms; between two bare commits ${processorMs.committed.toFixed(2)} ms; performed ${processorMs.performed.toFixed(2)} ms`,
    `  an empty commit of the ledger, one after the other: p50 ${commit.p50.toFixed(1)} ms, p95 ${commit.p95.toFixed(1)} ms`,
    "",
  ].join("\n");
}
