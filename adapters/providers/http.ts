/**
 * One HTTP exchange with an outside system, told as data. It sends once: no retries, no redirects, nothing thrown
 * for what the wire did. Connections are kept alive. The API key goes into the request's header and nowhere else.
 */

/** What came back. */
export type Exchange =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly mediaType: string | null;
      readonly retryAfter: string | null;
      readonly body: Uint8Array;
    }
  /** No whole answer; says nothing about whether the request was worked on. */
  | { readonly kind: "noAnswer"; readonly reason: NoAnswerReason; readonly detail: string };

export type NoAnswerReason =
  /** `timeoutMs` passed. */
  | "timeout"
  /** The caller's signal was aborted. */
  | "cancelled"
  /** Refused, reset, ended early, or not HTTP. */
  | "connection"
  /** The body was longer than `responseBytesMax`. */
  | "tooLarge";

export interface HttpClientOptions {
  /** Origin, and path if any, of the system: `http://127.0.0.1:4001`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey: string;
  /**
   * For the whole exchange, body included, in milliseconds. It decides only when to stop waiting: past it the
   * outcome is unknown, so a low figure costs questions and a high one costs waiting.
   */
  readonly timeoutMs: number;
  /** Default 1 MiB. An answer above it is not read to its end. */
  readonly responseBytesMax?: number;
}

export interface HttpRequest {
  readonly method: "GET" | "POST";
  /** Below `baseUrl`, with parts that come from data already encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
}

export interface HttpClient {
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>;
}

const defaultResponseBytesMax = 1024 * 1024;

/** @throws TypeError when `baseUrl` isn't an HTTP address or `timeoutMs` isn't a positive number. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { apiKey, timeoutMs, responseBytesMax = defaultResponseBytesMax } = options;
  const baseUrl = requireHttpUrl(options.baseUrl);
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) {
    throw new TypeError(`timeoutMs must be a positive number of milliseconds, got ${timeoutMs}`);
  }

  const exchange = async (
    { method, path, headers, json }: HttpRequest,
    signal: AbortSignal,
  ): Promise<Exchange> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          accept: "application/json, application/problem+json, */*;q=0.1",
          authorization: `Bearer ${apiKey}`,
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        // A followed redirect would be a second send, possibly as another method and to another system.
        redirect: "manual",
        signal: AbortSignal.any([signal, timeout]),
      });
      const body = await readLimited(response, responseBytesMax);
      if (body === undefined) {
        return noAnswer(
          "tooLarge",
          `the answer (status ${response.status}) is above ${responseBytesMax} bytes`,
        );
      }
      return {
        kind: "response",
        status: response.status,
        mediaType: response.headers.get("content-type"),
        retryAfter: response.headers.get("retry-after"),
        body,
      };
    } catch (error) {
      if (signal.aborted) return noAnswer("cancelled", "the call was cancelled");
      if (timeout.aborted) return noAnswer("timeout", `no answer within ${timeoutMs} ms`);
      return noAnswer("connection", causeOf(error));
    }
  };
  return { exchange };
}

function noAnswer(reason: NoAnswerReason, detail: string): Exchange {
  return { kind: "noAnswer", reason, detail };
}

function requireHttpUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl must be an http or https address, got ${JSON.stringify(given)}`);
  }
  return url.href.replace(/\/+$/, "");
}

/** @returns `undefined` when the body is longer; the rest is then not read. */
async function readLimited(response: Response, bytesMax: number): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(parts);
    length += value.byteLength;
    if (length > bytesMax) {
      // Best effort: the connection goes down with the body, and what the peer says to that is of no use.
      await reader.cancel().catch(() => undefined);
      return undefined;
    }
    parts.push(value);
  }
}

/** The socket's error stands in the cause of fetch's own, which says "fetch failed" to everything. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = (cause as NodeJS.ErrnoException).code;
  return code === undefined ? cause.message : `${code}: ${cause.message}`;
}
