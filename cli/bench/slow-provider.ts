/** The benchmark's outside system as `perform` sees it: over the HTTP client that the real adapters use. */
import { z } from "zod";

import type { EffectProvider } from "../../activities/operation/index.js";
import { toAnswer, type PublishedAnswers } from "../../adapters/providers/answers.js";
import { createHttpClient } from "../../adapters/providers/http.js";
import { readJson } from "../../adapters/providers/wire.js";
import type { Run } from "../../platform/index.js";

export type BenchRequest = { readonly reference: string; readonly amountMinor: number };
export type BenchReceipt = { readonly id: string };

export interface SlowProvider extends EffectProvider<BenchRequest, BenchReceipt> {
  /** What it has received up to now. */
  received(): Promise<{ readonly sends: number; readonly keys: number }>;
}

/** Far above what a call takes on a machine that is out of breath: a time-out would be measured as an answer. */
const timeoutMs = 30_000;

const answers: PublishedAnswers<BenchReceipt> = {
  receipt: z.object({ id: z.string() }),
  inProgress: "about:blank#in-progress",
  exists: null,
  keyReused: "about:blank#key-reused",
  refused: "about:blank#refused",
  definitiveRefusals: [],
};
const receivedSchema = z.object({ sends: z.int(), keys: z.int() });

/** Starts the process, and gives the adapter for it. @param answerMs what each answer takes, in milliseconds. */
export async function startSlowProvider(run: Run, answerMs: number): Promise<SlowProvider> {
  const { ready } = await run.spawn({
    name: "slow-provider",
    entry: "cli/bench/slow-provider-main.js",
    env: { PROVIDER_MS: String(answerMs) },
  });
  const client = createHttpClient({
    baseUrl: `http://127.0.0.1:${String(ready["port"])}`,
    apiKey: "bench",
    timeoutMs,
  });
  return {
    name: "bench",
    policy: { honoursKeys: true, keysLiveForMs: null, canFind: false, settleMs: 1_000, parkAfterMs: 60_000 },
    async send(request, { providerKey, signal }) {
      const headers = { "idempotency-key": providerKey };
      const exchange = await client.exchange(
        { method: "POST", path: "/postings", headers, json: request },
        signal,
      );
      return toAnswer(exchange, answers, Date.now());
    },
    sameEffect: (request, receipt) => request.reference === receipt.id,
    async received() {
      const exchange = await client.exchange(
        { method: "GET", path: "/received" },
        new AbortController().signal,
      );
      const received = exchange.kind === "response" ? readJson(exchange, receivedSchema) : undefined;
      if (received === undefined) throw new Error("the provider doesn't say what it received");
      return received;
    },
  };
}
