/** Reading parts of an answer that every outside system has in common. Pure. */
import { z } from "zod";
import type { Exchange } from "./http.js";

export type Response = Extract<Exchange, { kind: "response" }>;

/** A problem (RFC 9457) as far as adapters act on it. */
const problemSchema = z.object({
  type: z.string(),
  title: z.string().optional(),
  detail: z.string().optional(),
  code: z.string().optional(),
});
export type WireProblem = z.infer<typeof problemSchema>;

/** The body as JSON of that shape, or `undefined` when it is anything else. */
export function readJson<Schema extends z.ZodType>(
  response: Response,
  schema: Schema,
): z.infer<Schema> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(response.body));
  } catch {
    return undefined;
  }
  return schema.safeParse(value).data;
}

/** The problem that the answer carries; a body with another media type carries none, whatever it holds. */
export function readProblem(response: Response): WireProblem | undefined {
  const mediaType = response.mediaType?.split(";")[0]?.trim().toLowerCase();
  return mediaType === "application/problem+json" ? readJson(response, problemSchema) : undefined;
}

/** One hour: a wrong header may not put an operation to sleep past the point where a person should see it. */
export const retryAfterMsMax = 3_600_000;

/**
 * @param header seconds or an HTTP date (RFC 9110).
 * @param nowMs  the time that a date is compared with, in milliseconds since 1970.
 * @returns milliseconds, at most {@link retryAfterMsMax}; `undefined` for a header that says nothing usable.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, retryAfterMsMax);
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(at - nowMs, 0), retryAfterMsMax);
}

/** For causes that people read: what came, in a few words. */
export function describeExchange(exchange: Exchange): string {
  if (exchange.kind === "noAnswer") return `${exchange.reason}: ${exchange.detail}`;
  const problem = readProblem(exchange);
  const said =
    problem === undefined ? "" : ` ${problem.type}${problem.code === undefined ? "" : ` (${problem.code})`}`;
  return `status ${exchange.status}${said}`;
}
