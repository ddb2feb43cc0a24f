import { createHash } from "node:crypto";

import canonicalize from "canonicalize";
import type { ColumnType } from "kysely";

import type { JsonValue } from "../../activities/operation/json.js";
import { isStorableText } from "../../activities/operation/storable.js";

/** A `jsonb` column: written as text, made by `storableJson`, and read as a value. Never updated. */
export type JsonColumn = ColumnType<JsonValue, string, never>;

/** The value can't be kept exactly as JSON in Postgres. */
export class NotStorable extends TypeError {
  override readonly name = "NotStorable";
}

/**
 * Canonical JSON (RFC 8785) of a value, for a `jsonb` column or a digest. JSON without canonical form is refused
 * instead of changed: what a digest is taken of must be what was meant.
 *
 * @param name what the value is, for the error: `body`.
 * @throws `NotStorable` with the path of the first part that isn't JSON, or that Postgres can't hold (U+0000).
 */
export function storableJson(name: string, value: unknown): string {
  refuseUnstorable(name, value, new Set());
  return canonicalize(value) as string;
}

/** SHA-256 in lower-case hex of a text in UTF-8. */
export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** SHA-256 of a value's canonical JSON (RFC 8785), in lower-case hex. */
export function digestOf(name: string, value: unknown): string {
  return sha256(storableJson(name, value));
}

function refuseUnstorable(path: string, value: unknown, above: Set<object>): void {
  switch (typeof value) {
    case "boolean":
      return;
    case "number":
      if (!Number.isFinite(value)) {
        throw new NotStorable(`${path} is ${value}; allowed: a finite number.`);
      }
      return;
    case "string":
      if (!isStorableText(value)) {
        throw new NotStorable(`${path} holds U+0000 or half a surrogate pair, which Postgres can't store.`);
      }
      return;
    case "object":
      if (value !== null) {
        refuseUnstorableParts(path, value, above);
      }
      return;
    default:
      throw new NotStorable(
        `${path} is ${typeof value}; allowed: null, a boolean, number, string, array or plain object.`,
      );
  }
}

function refuseUnstorableParts(path: string, value: object, above: Set<object>): void {
  if (above.has(value)) {
    throw new NotStorable(`${path} contains itself.`);
  }
  above.add(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      refuseUnstorable(`${path}[${index}]`, value[index], above);
    }
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      throw new NotStorable(`${path} is a ${value.constructor.name}; allowed: a plain object or an array.`);
    }
    for (const [key, part] of Object.entries(value)) {
      refuseUnstorable(`${path}'s key`, key, above);
      // A property that is undefined is absent in JSON, which is what an optional field means.
      if (part !== undefined) {
        refuseUnstorable(`${path}.${key}`, part, above);
      }
    }
  }
  above.delete(value);
}
