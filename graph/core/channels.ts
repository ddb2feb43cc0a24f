import type { CompiledGraph } from "./compile.js";
import { GraphError } from "./errors.js";
import { canonicalJson } from "./hash.js";
import { has, isJsonObject, type Json, type JsonObject } from "./json.js";
import { isOverwrite, isReplace } from "./markers.js";
import { fold, sortOut } from "./reducers.js";
import { modelKey } from "./object-state.js";
import { schemaProblem } from "./schema-check.js";
import type { ChannelRule } from "./state.js";

/** A unique topic keeps what it has ever held beside the values of now. */
interface UniqueTopic extends JsonObject {
  readonly values: readonly Json[];
  readonly known: readonly Json[];
}

function single(key: string, writes: readonly Json[], rule: ChannelRule, code?: string): Json {
  if (writes.length > 1 && !rule.concurrent)
    throw new GraphError(
      "InvalidUpdateError",
      `channel "${key}" got ${writes.length} values in one step: ${JSON.stringify(writes)}; ` +
        `it takes one, unless it has a reducer or is declared concurrent`,
      code,
    );
  const value = writes.at(-1)!;
  return isOverwrite(value) ? value.$overwrite : value;
}

function topicValue(current: Json | undefined, writes: readonly Json[], rule: ChannelRule): Json | undefined {
  const incoming = writes.flatMap((write) => (Array.isArray(write) ? (write as readonly Json[]) : [write]));
  if (!rule.unique) {
    const kept = rule.accumulate && current !== undefined ? (current as readonly Json[]) : [];
    const values = [...kept, ...incoming];
    return values.length === 0 ? undefined : values;
  }
  const before = (current ?? { values: [], known: [] }) as UniqueTopic;
  const known = new Set(before.known.map(canonicalJson));
  const added = incoming.filter((value) => {
    const text = canonicalJson(value);
    if (known.has(text)) return false;
    known.add(text);
    return true;
  });
  return {
    values: [...(rule.accumulate ? before.values : []), ...added],
    known: [...before.known, ...added],
  };
}

/** The state of an object-state graph after the writes of one step: merges and at most one replacement. */
function modelValue(graph: CompiledGraph, current: Json | undefined, writes: readonly Json[]): Json {
  const replaced = writes.find(isReplace);
  if (replaced !== undefined) {
    if (writes.length > 1) conflict("a replacement came beside another update");
    return replaced.$replace;
  }
  const merged: Record<string, Json> = { ...(current as JsonObject | undefined) };
  const written = new Set<string>();
  for (const update of writes as readonly JsonObject[])
    for (const [field, value] of Object.entries(update)) {
      if (written.has(field)) conflict(`field "${field}" got more than one value`);
      written.add(field);
      merged[field] = value;
    }
  return merged;

  function conflict(what: string): never {
    throw new GraphError(
      "InvalidUpdateError",
      `state of graph "${graph.manifest.name}": ${what} in one step`,
      "INVALID_CONCURRENT_GRAPH_UPDATE",
    );
  }
}

/** True when the new value can't be told without the code's own reducer. */
export function needsCode(
  rule: ChannelRule,
  current: Json | undefined,
  writes: readonly Json[],
  key: string,
): boolean {
  if (rule.reducer !== "custom") return false;
  const { current: start, updates } = sortOut(current, writes, key);
  return updates.length > (start === undefined ? 1 : 0);
}

/**
 * The new value of a state key after the writes of one step (at least one), or undefined when it is empty then.
 * A custom reducer gives its value as `reduced`.
 *
 * @throws GraphError `InvalidUpdateError`
 */
export function updated(
  graph: CompiledGraph,
  key: string,
  current: Json | undefined,
  writes: readonly Json[],
  reduced?: Json,
): Json | undefined {
  const rule = graph.channels.get(key)!;
  if (graph.manifest.mode === "object") return modelValue(graph, current, writes);
  switch (rule.reducer) {
    case "last":
      if (rule.concurrent) break;
      return single(key, writes, rule, "INVALID_CONCURRENT_GRAPH_UPDATE");
    case "untracked":
      return single(key, writes, rule, "INVALID_CONCURRENT_GRAPH_UPDATE");
    case "ephemeral":
      return single(key, writes, rule);
    case "any":
      return writes.at(-1);
    case "topic":
      return topicValue(current, writes, rule);
    case "custom": {
      if (reduced !== undefined) return reduced;
      const { current: start, updates } = sortOut(current, writes, key);
      return start ?? updates[0];
    }
  }
  return fold(rule, sortOut(current, writes, key), key);
}

/** What a key that empties itself holds after a step that didn't write it; undefined: nothing. */
export function emptied(rule: ChannelRule, current: Json): Json | undefined {
  return rule.unique ? { values: [], known: (current as UniqueTopic).known } : undefined;
}

/** True when the key has something to empty. */
export function isFilled(rule: ChannelRule, current: Json | undefined): current is Json {
  return current !== undefined && !(rule.unique && (current as UniqueTopic).values.length === 0);
}

/** The state as code reads it. The same object as `values` wherever nothing has to be taken out of it. */
export function readable(graph: CompiledGraph, values: JsonObject): JsonObject {
  if (graph.wrapped.length === 0) return values;
  const read: Record<string, Json> = { ...values };
  for (const key of graph.wrapped) {
    const topic = read[key] as UniqueTopic | undefined;
    if (topic === undefined) continue;
    if (topic.values.length === 0) delete read[key];
    else read[key] = topic.values;
  }
  return read;
}

/** The keys of the state that hold something, or for an object-state graph its model. */
export function view(graph: CompiledGraph, values: JsonObject, keys?: Iterable<string>): JsonObject {
  const read = readable(graph, values);
  if (graph.manifest.mode === "object") return (read[modelKey] ?? {}) as JsonObject;
  if (keys === undefined) return read;
  const picked: Record<string, Json> = {};
  for (const key of keys) if (has(read, key)) picked[key] = read[key]!;
  return picked;
}

/**
 * The writes that an update means, by state key; unknown keys are dropped.
 *
 * @throws TypeError for an object-state graph when the update is neither an object nor a replacement, or doesn't fit
 */
export function writesOf(
  graph: CompiledGraph,
  update: JsonObject,
  allowed?: ReadonlySet<string> | ReadonlyMap<string, unknown>,
): (readonly [string, Json])[] {
  if (graph.manifest.mode === "object") {
    checkModel(graph, update);
    return [[modelKey, update]];
  }
  const keys = allowed ?? graph.channels;
  return Object.entries(update).filter(([key]) => keys.has(key));
}

function checkModel(graph: CompiledGraph, update: JsonObject): void {
  const model = graph.manifest.model;
  if (model === undefined || typeof model === "boolean") return;
  const place = `state of graph "${graph.manifest.name}"`;
  const problem = isReplace(update)
    ? schemaProblem(update.$replace, model, place)
    : schemaProblem(update, partial(model), place);
  if (problem !== undefined) throw new GraphError("TypeError", problem);
}

function partial(model: JsonObject): JsonObject {
  const { required: _required, ...rest } = model;
  return rest;
}

/** True for a value that can be an update of the state. */
export function isUpdate(value: Json): value is JsonObject {
  return isJsonObject(value);
}
