/** What one connection may cost, and what a client is told whose request could not even be read. */
import type { Socket } from "node:net";
import { STATUS_CODES } from "node:http";
import type { Logger } from "pino";
import { problemMediaType, problemOf } from "./problems.js";

export interface ConnectionLimits {
  /** Request line and headers together. */
  readonly headerBytesMax: number;
  /** From the connection, or the end of the request before, until the headers are there. */
  readonly headersMsMax: number;
  /** Until the body is there too. */
  readonly requestMsMax: number;
  /** How often overdue requests are looked for, so how late one can be noticed. */
  readonly checkEveryMs: number;
  readonly connectionsMax: number;
}

export const connectionLimits: ConnectionLimits = {
  // A key, an idempotency key and what proxies add are below 4 KiB; Node's own default, made explicit.
  headerBytesMax: 16_384,
  // A client that says nothing holds a place. Ten seconds survive a lost packet with its repetitions.
  headersMsMax: 10_000,
  // The largest body at 35 KB/s, slower than any line between servers. Too short refuses a slow client, which may
  // come again; too long lets a few clients that send a byte now and then hold all places.
  requestMsMax: 30_000,
  checkEveryMs: 1_000,
  // A connection costs some ten kilobytes, and ten connections to the ledger serve all of them.
  connectionsMax: 1_000,
};

/** Writes the problem straight to the socket, since there is no request to reply to, and ends the connection. */
export function answerToUnreadable(
  error: Error & { readonly code?: string },
  socket: Socket,
  logger: Logger,
): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const problem = problemOfUnreadable(error.code);
  // Not what was sent, which may hold a key.
  logger.info({ event: "unreadable-request", status: problem.status, code: error.code });
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    "Connection: close",
    `Content-Type: ${problemMediaType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // What is still arriving is read by nobody; without this the socket would wait for the client to end it.
  socket.destroySoon();
}

function problemOfUnreadable(code: string | undefined) {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return problemOf("RequestTooSlow", "the request did not arrive in time");
    case "HPE_HEADER_OVERFLOW":
      return problemOf("HeadersTooLarge", "request line and headers are above the limit of the API");
    default:
      return problemOf("InvalidRequest", "what arrived is no HTTP request");
  }
}
