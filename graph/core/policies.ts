import type { ErrorData } from "./errors.js";
import { GraphError } from "./errors.js";
import { toMs } from "./durations.js";
import type { CacheRule, InterruptRule, Refusals, RetryRule, TimeoutRule } from "./manifest.js";
import type { CacheOptions, InterruptOptions, RetryOptions, TimeoutOptions } from "./options.js";
import { toJsonSchema } from "./schema.js";

/** What a policy without `retryOn` refuses: answers that stay the same however often one asks, and aborts. */
export const defaultRefusals: Refusals = {
  names: ["AbortError", "GraphValueError"],
  codes: ["ECONNABORTED", "insufficient_quota"],
  statuses: [400, 401, 402, 403, 404, 405, 406, 407, 409],
  messagePrefixes: ["Cancel", "AbortError"],
};

const standard = {
  attempts: 3,
  initialIntervalMs: 500,
  backoffFactor: 2,
  maxIntervalMs: 128_000,
  jitterMs: 1000,
};

export function retryRule(options: RetryOptions, place: string): RetryRule {
  const attempts = options.attempts ?? standard.attempts;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new GraphError(
      "GraphDefinitionError",
      `retry.attempts of ${place} is ${JSON.stringify(attempts)}; allowed is a whole number from 1`,
    );
  return {
    attempts,
    initialIntervalMs: toMs(
      options.initialInterval ?? standard.initialIntervalMs,
      `retry.initialInterval of ${place}`,
    ),
    backoffFactor: options.backoffFactor ?? standard.backoffFactor,
    maxIntervalMs: toMs(options.maxInterval ?? standard.maxIntervalMs, `retry.maxInterval of ${place}`),
    jitterMs: (options.jitter ?? true) ? standard.jitterMs : 0,
    ...(options.retryOn ? { retryOn: [...options.retryOn] } : { refuse: defaultRefusals }),
  };
}

function isRefused(error: ErrorData, refuse: Refusals): boolean {
  return (
    refuse.names.includes(error.name) ||
    (error.code !== undefined && refuse.codes.includes(error.code)) ||
    (error.status !== undefined && refuse.statuses.includes(error.status)) ||
    refuse.messagePrefixes.some((prefix) => error.message.startsWith(prefix))
  );
}

/**
 * How long to wait before another attempt, in milliseconds and without the jitter, which needs a source of chance;
 * undefined when there is to be none. `failedAttempts` counts the attempts so far.
 */
export function retryDelayMs(
  rule: RetryRule | undefined,
  error: ErrorData,
  failedAttempts: number,
): number | undefined {
  if (rule === undefined || failedAttempts >= rule.attempts) return undefined;
  if (rule.retryOn ? !rule.retryOn.includes(error.name) : rule.refuse && isRefused(error, rule.refuse))
    return undefined;
  return Math.min(rule.maxIntervalMs, rule.initialIntervalMs * rule.backoffFactor ** (failedAttempts - 1));
}

export function timeoutRule(options: TimeoutOptions, place: string): TimeoutRule {
  if (typeof options !== "object") return { runMs: toMs(options, `timeout of ${place}`), refresh: "auto" };
  if (options.run === undefined && options.idle === undefined)
    throw new GraphError("GraphDefinitionError", `timeout of ${place} has neither run nor idle`);
  return {
    ...(options.run !== undefined && { runMs: toMs(options.run, `timeout.run of ${place}`) }),
    ...(options.idle !== undefined && { idleMs: toMs(options.idle, `timeout.idle of ${place}`) }),
    refresh: options.refresh ?? "auto",
  };
}

export function cacheRule(options: CacheOptions | true, place: string): CacheRule {
  if (options === true) return {};
  return {
    ...(options.ttl !== undefined && { ttlMs: toMs(options.ttl, `cache.ttl of ${place}`) }),
    ...(options.key && { key: [...options.key] }),
  };
}

export function interruptRule(options: InterruptOptions | true, place: string): InterruptRule {
  if (options === true) return {};
  return {
    ...(options.schema && { schema: toJsonSchema(options.schema, `interrupts.schema of ${place}`) }),
    ...(options.deadline !== undefined && {
      deadlineMs: toMs(options.deadline, `interrupts.deadline of ${place}`),
    }),
  };
}
