/** Who is asking, by the bearer token of the request. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

/** Compares digests, so that neither content nor length of the secret shows in the time that it takes. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected));
}

export function bearerToken(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  return header === undefined ? undefined : /^Bearer +(\S+)$/i.exec(header)?.[1];
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
