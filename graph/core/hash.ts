import { sha256 } from "@noble/hashes/sha2.js";
import canonicalize from "canonicalize";
import type { Json } from "./json.js";

const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
/** 128 bits name a task or a checkpoint: a clash is out of reach, and ids stay readable. */
const idBytes = 16;

function nonAsciiBytes(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    // A lone surrogate has no UTF-8 form; like TextEncoder, write the replacement character.
    const code = character.codePointAt(0)!;
    const point = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000)
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 63),
        0x80 | ((point >> 6) & 63),
        0x80 | (point & 63),
      );
  }
  return bytes;
}

/** UTF-8 without TextEncoder, which a bare context doesn't have. */
export function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0x80) return Uint8Array.from(nonAsciiBytes(text));
    bytes[index] = code;
  }
  return bytes;
}

function hex(bytes: Uint8Array, length: number): string {
  let text = "";
  for (let index = 0; index < length; index++) text += hexOf[bytes[index]!];
  return text;
}

/** SHA-256 of the text, lowercase hex. */
export function sha256Hex(text: string): string {
  return hex(sha256(utf8(text)), 32);
}

/** An id made from its parts; parts hold no NUL, so different parts never give the same text. */
export function hashId(...parts: readonly string[]): string {
  return hex(sha256(utf8(parts.join("\0"))), idBytes);
}

/** RFC 8785 canonical JSON. */
export function canonicalJson(value: Json): string {
  return canonicalize(value)!;
}
