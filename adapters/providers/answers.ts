/**
 * From what came over the wire to what `perform` understands, for systems that take keyed requests and answer in
 * problem details. Each adapter gives the list that its system publishes; the rules are the same for all, and
 * whatever is on no list is unknown. Pure.
 */
import type { z } from "zod";
import type { Answer } from "../../activities/operation/provider.js";
import type { JsonValue } from "../../activities/operation/json.js";
import type { Exchange } from "./http.js";
import { describeExchange, readJson, readProblem, retryAfterMs, type Response } from "./wire.js";

/** What a system's documentation promises about its answers. */
export interface PublishedAnswers<Receipt extends JsonValue> {
  /** The body of a success; what doesn't fit is no proof of anything. */
  readonly receipt: z.ZodType<Receipt>;
  /** Problem types of the three things that 409 can mean. `exists: null`: this system never says so. */
  readonly inProgress: string;
  readonly exists: string | null;
  readonly keyReused: string;
  /** Problem type of a refusal, and the codes with which nothing was done and nothing will be. */
  readonly refused: string;
  readonly definitiveRefusals: readonly string[];
}

/** When a system says "in progress" without saying for how long. */
const inProgressRetryAfterMs = 1_000;

/** @param nowMs for a `Retry-After` that is a date. */
export function toAnswer<Receipt extends JsonValue>(
  exchange: Exchange,
  published: PublishedAnswers<Receipt>,
  nowMs: number,
): Answer<Receipt> {
  if (exchange.kind === "noAnswer") return unknown(exchange, nowMs);
  switch (exchange.status) {
    case 200:
    case 201: {
      const receipt = readJson(exchange, published.receipt);
      return receipt === undefined
        ? { outcome: "unknown", cause: `${describeExchange(exchange)} without a readable receipt` }
        : { outcome: "done", receipt };
    }
    case 409:
      return fromConflict(exchange, published, nowMs);
    case 422:
      return fromRefusal(exchange, published, nowMs);
    default:
      return unknown(exchange, nowMs);
  }
}

function fromConflict<Receipt extends JsonValue>(
  response: Response,
  published: PublishedAnswers<Receipt>,
  nowMs: number,
): Answer<Receipt> {
  const problem = readProblem(response);
  if (problem === undefined) return unknown(response, nowMs);
  const detail = problem.detail ?? describeExchange(response);
  switch (problem.type) {
    case published.inProgress:
      return {
        outcome: "inProgress",
        retryAfterMs: retryAfterMs(response.retryAfter, nowMs) ?? inProgressRetryAfterMs,
      };
    case published.keyReused:
      return { outcome: "conflict", detail };
    case published.exists:
      return { outcome: "exists", detail };
    default:
      return unknown(response, nowMs);
  }
}

function fromRefusal<Receipt extends JsonValue>(
  response: Response,
  published: PublishedAnswers<Receipt>,
  nowMs: number,
): Answer<Receipt> {
  const problem = readProblem(response);
  const code = problem?.code;
  if (
    problem?.type !== published.refused ||
    code === undefined ||
    !published.definitiveRefusals.includes(code)
  ) {
    return unknown(response, nowMs);
  }
  return { outcome: "refused", code, detail: problem.detail ?? code };
}

function unknown(exchange: Exchange, nowMs: number): Extract<Answer<never>, { outcome: "unknown" }> {
  const cause = describeExchange(exchange);
  const later = exchange.kind === "response" ? retryAfterMs(exchange.retryAfter, nowMs) : undefined;
  return later === undefined
    ? { outcome: "unknown", cause }
    : { outcome: "unknown", cause, retryAfterMs: later };
}
