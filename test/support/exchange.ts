/** Answers of outside systems as data, for tables. */
import type { Exchange } from "../../adapters/providers/http.js";

export function responded(
  status: number,
  options: {
    readonly json?: unknown;
    readonly body?: string;
    readonly mediaType?: string | null;
    readonly retryAfter?: string;
  } = {},
): Exchange {
  const { json, body = json === undefined ? "" : JSON.stringify(json), retryAfter = null } = options;
  const mediaType = options.mediaType === undefined ? "application/json" : options.mediaType;
  return { kind: "response", status, mediaType, retryAfter, body: new TextEncoder().encode(body) };
}

export function problem(
  status: number,
  type: string,
  more: { readonly code?: string; readonly detail?: string; readonly retryAfter?: string } = {},
): Exchange {
  const { retryAfter, ...members } = more;
  return responded(status, {
    json: { type, title: "A problem", status, ...members },
    mediaType: "application/problem+json; charset=utf-8",
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}
