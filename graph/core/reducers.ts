import { GraphError } from "./errors.js";
import { canonicalJson } from "./hash.js";
import { has, isJsonObject, type Json, type JsonObject } from "./json.js";
import { isOverwrite, REMOVE_ALL } from "./markers.js";
import type { ChannelRule } from "./state.js";

/** Folds the plain writes of one step into the value; `current` is undefined when the channel holds nothing. */
type Fold = (current: Json | undefined, updates: readonly Json[], rule: ChannelRule, key: string) => Json;

function listOf(value: Json | undefined): readonly Json[] {
  return value === undefined ? [] : Array.isArray(value) ? (value as readonly Json[]) : [value];
}

/**
 * One new list for all updates of a step, so that a wide step costs its width and not its square. `concat` makes the
 * list in its final size; growing a copy would cost twice the time and keep half as much room again, in every checkpoint.
 */
function appended(current: Json | undefined, updates: readonly Json[]): Json[] {
  if (updates.length === 1) return (listOf(current) as Json[]).concat(listOf(updates[0]));
  const added: Json[] = [];
  for (const update of updates) for (const item of listOf(update)) added.push(item);
  return (listOf(current) as Json[]).concat(added);
}

function refuse(key: string, update: Json, allowed: string): never {
  throw new GraphError(
    "InvalidUpdateError",
    `channel "${key}" got ${JSON.stringify(update)}; allowed is ${allowed}`,
  );
}

function numeric(combine: (a: number, b: number) => number): Fold {
  return (current, updates, _rule, key) => {
    let value = current as number | undefined;
    for (const update of updates) {
      if (typeof update !== "number") refuse(key, update, "a number");
      value = value === undefined ? update : combine(value, update);
    }
    return value!;
  };
}

const mergeObjects: Fold = (current, updates, _rule, key) => {
  const merged: Record<string, Json> = { ...(current as JsonObject | undefined) };
  for (const update of updates) {
    if (update === null) continue;
    if (!isJsonObject(update)) refuse(key, update, "an object or null");
    Object.assign(merged, update);
  }
  return merged;
};

const uniteItems: Fold = (current, updates) => {
  const known = new Set<string>();
  return appended(current, updates).filter((item) => {
    const text = canonicalJson(item);
    if (known.has(text)) return false;
    known.add(text);
    return true;
  });
};

function idOf(item: Json, key: string): string {
  const id = isJsonObject(item) ? item["id"] : undefined;
  if (typeof id !== "string") refuse(key, item, "an object with a text as id");
  return id;
}

const upsertById: Fold = (current, updates, _rule, key) => {
  const items = new Map<string, Json>();
  for (const item of listOf(current)) items.set(idOf(item, key), item);
  for (const item of appended(undefined, updates)) {
    const id = idOf(item, key);
    if ((item as JsonObject)["$remove"] === true) items.delete(id);
    else items.set(id, item);
  }
  return [...items.values()];
};

const mergeMessages: Fold = (current, updates, _rule, key) => {
  let incoming: readonly Json[] = appended(undefined, updates);
  const clear = incoming.findLastIndex((message) => isRemoval(message) && idOf(message, key) === REMOVE_ALL);
  if (clear >= 0) incoming = incoming.slice(clear + 1);
  const byId = new Map<string, Json>();
  if (clear < 0) for (const message of listOf(current)) byId.set(idOf(message, key), message);
  const removed = new Set<string>();
  for (const message of incoming) {
    const id = idOf(message, key);
    if (isRemoval(message)) {
      // A plain Error, as LangGraph throws here.
      if (!byId.has(id))
        throw new Error(`channel "${key}" can't remove message "${id}", which it doesn't hold`);
      removed.add(id);
    } else {
      removed.delete(id);
      byId.set(id, message);
    }
  }
  for (const id of removed) byId.delete(id);
  return [...byId.values()];
};

function isRemoval(message: Json): boolean {
  return isJsonObject(message) && message["role"] === "remove";
}

const folds: Partial<Record<ChannelRule["reducer"], Fold>> = {
  last: (_current, updates) => updates.at(-1)!,
  append: appended,
  sum: numeric((a, b) => a + b),
  max: numeric((a, b) => Math.max(a, b)),
  min: numeric((a, b) => Math.min(a, b)),
  merge: mergeObjects,
  union: uniteItems,
  messages: mergeMessages,
  byId: upsertById,
  bounded: (current, updates, rule) => appended(current, updates).slice(-rule.limit!),
};

/** The writes of one step to a reducer channel, sorted out: start from `current`, then fold `updates` in. */
export interface Folding {
  readonly current: Json | undefined;
  readonly updates: readonly Json[];
}

/**
 * Sorts out overwrites: one drops the writes before it and makes the later plain ones count for nothing, two are an
 * error. As the very first write of an empty channel, an overwrite is a value like any other.
 *
 * @throws GraphError `InvalidUpdateError`
 */
export function sortOut(current: Json | undefined, writes: readonly Json[], key: string): Folding {
  let start = current;
  let plain: readonly Json[] = writes;
  const first = writes[0];
  if (current === undefined && isOverwrite(first)) {
    start = first.$overwrite;
    plain = writes.slice(1);
  }
  const overwrites = plain.filter(isOverwrite);
  if (overwrites.length === 0) return { current: start, updates: plain };
  if (overwrites.length > 1)
    throw new GraphError(
      "InvalidUpdateError",
      `channel "${key}" got ${overwrites.length} overwrites in one step; allowed is one`,
    );
  return { current: overwrites[0]!.$overwrite, updates: [] };
}

/** The new value of a channel with a named reducer. */
export function fold(rule: ChannelRule, { current, updates }: Folding, key: string): Json {
  return updates.length === 0 ? current! : folds[rule.reducer]!(current, updates, rule, key);
}

/** Gives messages without an id one that follows from `seed`, and turns texts into messages of a user. */
export function stampMessages(value: Json, makeId: (ordinal: number) => string): Json {
  if (isOverwrite(value)) return { $overwrite: stampMessages(value.$overwrite, makeId) };
  const stamp = (message: Json, ordinal: number): Json => {
    const whole: Json = typeof message === "string" ? { role: "user", content: message } : message;
    return isJsonObject(whole) && !has(whole, "id") ? { ...whole, id: makeId(ordinal) } : whole;
  };
  return Array.isArray(value) ? (value as readonly Json[]).map(stamp) : stamp(value, 0);
}
