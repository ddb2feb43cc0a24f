import { GraphError } from "./errors.js";
import type { Json } from "./json.js";

function refuse(place: string, what: string): never {
  throw new GraphError(
    "InvalidUpdateError",
    `${place} is ${what}; what crosses a step is plain JSON`,
    "NOT_JSON",
  );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of a plain object has none itself, whatever context it comes from.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function copyArray(value: readonly unknown[], place: string, above: object[]): Json {
  const items: Json[] = [];
  for (let index = 0; index < value.length; index++)
    items.push(value[index] === undefined ? null : copy(value[index], place, above, index));
  return Object.freeze(items);
}

function copyObject(value: Record<string, unknown>, place: string, above: object[]): Json {
  const fields: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    // Assigned to a plain object, it would become its prototype.
    if (key === "__proto__") refuse(place, 'an object with the field "__proto__"');
    const field = value[key];
    if (field !== undefined) fields[key] = copy(field, place, above, key);
  }
  return Object.freeze(fields);
}

/** The place of a part; put together only when it is needed, because nearly every copy succeeds. */
function within(place: string, part: string | number | undefined): string {
  if (part === undefined) return place;
  return typeof part === "number" ? `${place}[${part}]` : `${place}.${part}`;
}

function copyContainer(value: object, place: string, above: object[]): Json {
  if (above.includes(value)) refuse(place, "part of itself");
  above.push(value);
  let copied: Json;
  if (Array.isArray(value)) copied = copyArray(value, place, above);
  else if (isPlain(value)) copied = copyObject(value as Record<string, unknown>, place, above);
  else refuse(place, `an object of class ${value.constructor?.name ?? "unknown"}`);
  above.pop();
  return copied;
}

function copy(value: unknown, outer: string, above: object[], part?: string | number): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // -0 would come back from JSON as 0.
      return Number.isFinite(value) ? value + 0 : refuse(within(outer, part), String(value));
    case "object":
      return value === null
        ? null
        : copyContainer(value, above.length === 0 ? outer : within(outer, part), above);
    default:
      return refuse(within(outer, part), `a ${typeof value}`);
  }
}

/**
 * A frozen copy of the value as plain JSON, so that code can't change what it has handed over. Fields that are
 * undefined are left out; undefined itself becomes null.
 *
 * @param place names the value in an error
 * @throws GraphError `InvalidUpdateError` with code `NOT_JSON`
 */
export function plain(value: unknown, place: string): Json {
  return value === undefined ? null : copy(value, place, []);
}
