/** Requests and answers on their way: which headers travel, and how much of a body is looked at. */
import type http from "node:http";
import type { Readable } from "node:stream";

/**
 * Bodies are looked through for run tokens up to this size, and larger ones stream on unread. Business requests
 * are far smaller; a larger one has its ids in its path or headers.
 */
export const inspectedBytesMax = 1024 * 1024;

/** Headers that belong to one connection and not to the message. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Names and values in turn, as they were written, without those that end at the tap. */
export function travellingHeaders(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (!hopByHop.has(raw[at]!.toLowerCase())) kept.push(raw[at]!, raw[at + 1]!);
  }
  return kept;
}

export interface InspectedBody {
  /** What was read, the whole body when `complete`. */
  readonly head: Buffer;
  /** False for a body that is larger than what is looked at, or that its sender broke off. */
  readonly complete: boolean;
}

/** Reads a body up to `inspectedBytesMax`; the rest, if any, stays in the stream. */
export function inspectBody(stream: Readable): Promise<InspectedBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (complete: boolean) => {
      stream.off("data", take).off("end", ended).off("close", broken);
      resolve({ head: Buffer.concat(chunks), complete });
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > inspectedBytesMax) {
        stream.pause();
        finish(false);
      }
    };
    const ended = () => finish(true);
    const broken = () => finish(false);
    stream.on("data", take).on("end", ended).on("close", broken);
  });
}

/** What a request says it is for: the key that its sender would repeat it with. */
export function idempotencyKeyOf(headers: http.IncomingHttpHeaders): string | null {
  const key = headers["idempotency-key"];
  return typeof key === "string" && key !== "" ? key : null;
}

/** Methods that change nothing at the other side, by the standard. */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export function isRead(method: string): boolean {
  return safeMethods.has(method);
}
