/** What can cross a step, a process or a stored checkpoint unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True when `key` is the object's own, so that a state key called `constructor` is nothing special. */
export function has(object: object, key: string): boolean {
  return Object.prototype.hasOwnProperty.call(object, key);
}
