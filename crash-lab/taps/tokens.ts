/**
 * Run tokens: the mark by which a message is known to belong to a run.
 *
 * The lab puts a token into every business id of a run (`invoice-kp0k3x9f2m1q7b`), and the ids carry it through
 * workflow ids, keys, paths and rows. A token counts only when it stands between characters that are neither
 * letters nor digits, so a digest that happens to hold the same letters is no match.
 */
import { randomBytes } from "node:crypto";

const tokenPrefix = "kp";
/** 36^12 values: two runs of one lab never share a token, and no ordinary word looks like one. */
const tokenRandomLength = 12;
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
const tokenPattern = new RegExp(
  `(?<![0-9A-Za-z])${tokenPrefix}[0-9a-z]{${tokenRandomLength}}(?![0-9A-Za-z])`,
  "g",
);

/** Length of every token in characters; all of them are one byte in every encoding a tap meets. */
export const runTokenLength = tokenPrefix.length + tokenRandomLength;

/** A new token. It must be put into ids between delimiters, such as `-`, `:`, `/` or `_`. */
export function newRunToken(): string {
  const random = Array.from(randomBytes(tokenRandomLength), (byte) => alphabet[byte % alphabet.length]);
  return tokenPrefix + random.join("");
}

/** All tokens in a text or in bytes, each once, in the order in which they are first seen. */
export function runTokensIn(content: string | Uint8Array): string[] {
  if (typeof content !== "string" && indexOfPrefix(content) === -1) return [];
  // Latin-1 gives one character for each byte whatever the bytes are, and a token is plain ASCII.
  const text = typeof content === "string" ? content : bufferOf(content).toString("latin1");
  return [...new Set(text.match(tokenPattern) ?? [])];
}

/** The text with each run token replaced, so that texts of different runs can be compared. */
export function withoutRunTokens(text: string, replacement = "{run}"): string {
  return text.replace(tokenPattern, replacement);
}

/** Finds tokens in content that arrives in pieces cut anywhere. */
export class RunTokenScanner {
  readonly tokens = new Set<string>();
  /** The last bytes seen: one for the opening delimiter, and what may be a token without its closing one. */
  private tail = Buffer.alloc(0);
  private seen = 0;

  push(piece: Uint8Array): void {
    const content = Buffer.concat([this.tail, piece]);
    this.find(content, content.length - 1);
    this.seen += piece.length;
    this.tail = Buffer.from(content.subarray(Math.max(0, content.length - runTokenLength - 1)));
  }

  /** The content has ended, which delimits what stood last. */
  end(): void {
    this.find(this.tail, this.tail.length);
    this.tail = Buffer.alloc(0);
    this.seen = 0;
  }

  /** Takes tokens that end at or before `end`. */
  private find(content: Buffer, end: number): void {
    if (indexOfPrefix(content) === -1) return;
    // In a full tail, a token at the first byte was judged before, when the byte in front of it was still there.
    const first = this.seen > runTokenLength ? 1 : 0;
    for (const match of content.toString("latin1").matchAll(tokenPattern)) {
      if (match.index >= first && match.index + runTokenLength <= end) this.tokens.add(match[0]);
    }
  }
}

function indexOfPrefix(content: Uint8Array): number {
  return bufferOf(content).indexOf(tokenPrefix, 0, "latin1");
}

function bufferOf(content: Uint8Array): Buffer {
  return Buffer.isBuffer(content)
    ? content
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}
