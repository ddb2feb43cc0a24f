/** One call on its way: the request whole, the answer whole, and the calls that are passed on as they come. */
import type http2 from "node:http2";
import { constants } from "node:http2";

export interface Answer {
  readonly headers: http2.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trailers: http2.IncomingHttpHeaders | null;
}

/** @returns the body, or null when the caller gave the call up before it was complete. */
export function collectRequest(stream: http2.ServerHttp2Stream): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => resolve(Buffer.concat(chunks)));
    stream.on("close", () => resolve(null));
  });
}

/**
 * Sends a request and waits for all of its answer.
 * @throws when the stream or its connection breaks first.
 */
export function exchange(upstream: http2.ClientHttp2Stream, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let headers: http2.IncomingHttpHeaders = {};
    let trailers: http2.IncomingHttpHeaders | null = null;
    upstream.on("response", (received) => (headers = received));
    upstream.on("trailers", (received) => (trailers = received));
    upstream.on("data", (chunk: Buffer) => chunks.push(chunk));
    upstream.on("end", () => {
      // A stream that was reset ends as well, but without having said how the call went.
      if (upstream.rstCode === constants.NGHTTP2_NO_ERROR && headers[":status"] !== undefined) {
        resolve({ headers, body: Buffer.concat(chunks), trailers });
      } else reject(new Error("the call was reset by the server"));
    });
    upstream.on("error", reject);
    upstream.on("close", () => reject(new Error("the call ended without an answer")));
    upstream.end(body);
  });
}

export function respond(stream: http2.ServerHttp2Stream, answer: Answer): void {
  if (stream.destroyed || stream.closed) return;
  const { headers, body, trailers } = answer;
  if (trailers !== null) {
    stream.respond(headers, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(body);
  } else if (body.length === 0) stream.respond(headers, { endStream: true });
  else {
    stream.respond(headers);
    stream.end(body);
  }
}

/** gRPC's word for "the connection broke", which every client makes itself when it does. */
const unavailable = "14";

/** Ends one call as a broken connection would, and leaves the other calls on the connection alone. */
export function breakCall(stream: http2.ServerHttp2Stream): void {
  if (stream.destroyed || stream.closed) return;
  if (stream.headersSent) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": unavailable,
      "grpc-message": "connection broken",
    },
    { endStream: true },
  );
}

/** Passes a call through as it comes, in both directions, at the pace of the slower side. */
export function passThrough(stream: http2.ServerHttp2Stream, upstream: http2.ClientHttp2Stream): void {
  let trailers: http2.IncomingHttpHeaders = {};
  stream.pipe(upstream);
  upstream.on("response", (headers, flags) => {
    if (stream.destroyed) return;
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) stream.respond(headers, { endStream: true });
    else {
      stream.respond(headers, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
      upstream.pipe(stream);
    }
  });
  upstream.on("trailers", (received) => (trailers = received));
  upstream.on("error", () => breakCall(stream));
  upstream.on("close", () => {
    if (upstream.rstCode !== constants.NGHTTP2_NO_ERROR) breakCall(stream);
  });
  stream.on("close", () => {
    if (!upstream.closed) upstream.close(constants.NGHTTP2_CANCEL);
  });
}
