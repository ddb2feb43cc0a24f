/** An outside system's answer, before it is put on the wire: it can be stored, sent again, or dropped. */
import type { FastifyReply } from "fastify";
import { problemMediaType, type Problem } from "./http/problem.js";
import type { JournaledRequest } from "./journal/append.js";
import type { FaultsInForce } from "./faults/book.js";

export interface WireAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export function jsonAnswer(status: number, body: unknown): WireAnswer {
  return { status, mediaType: "application/json", body: JSON.stringify(body) };
}

export function problemAnswer(problem: Problem, headers?: Readonly<Record<string, string>>): WireAnswer {
  const answer = { status: problem.status, mediaType: problemMediaType, body: JSON.stringify(problem) };
  return headers === undefined ? answer : { ...answer, headers };
}

/** What stands between the client and the system says: not in the system's own words, on purpose. */
export function gatewayAnswer({
  status,
  retryAfterSeconds,
}: NonNullable<FaultsInForce["unavailable"]>): WireAnswer {
  return {
    status,
    mediaType: "text/html; charset=utf-8",
    body: `<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`,
    headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
  };
}

/** Gives the answer, or breaks the connection when that is what the request suffers from; journals which. */
export async function give(
  reply: FastifyReply,
  answer: WireAnswer,
  request: JournaledRequest,
  faults: FaultsInForce,
): Promise<FastifyReply> {
  if (faults.dropAnswer !== undefined) {
    await request.dropped();
    reply.hijack();
    reply.raw.destroy();
    return reply;
  }
  await request.answered(answer.status);
  // Text and bytes pass Fastify as they are: a stored answer goes out again byte for byte.
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .type(answer.mediaType)
    .send(answer.body);
}
