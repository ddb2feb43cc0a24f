import type { Json, JsonObject } from "./json.js";
import type { Overwrite } from "./markers.js";

/** How writes of one step become the value of a channel; the closed set that runs inside a workflow. */
export type Reducer =
  | "last"
  | "append"
  | "sum"
  | "max"
  | "min"
  | "merge"
  | "union"
  | "messages"
  | "byId"
  | "bounded"
  | "ephemeral"
  | "topic"
  | "any"
  | "untracked"
  | "custom";

/** A channel in the manifest. */
export interface ChannelRule {
  readonly reducer: Reducer;
  /** Value before the first write; absent: none, and the first write is taken as it is. */
  readonly default?: Json;
  /** `custom`: the name under which the code gives the reducer. */
  readonly name?: string;
  /** `bounded`: how many of the newest entries stay. */
  readonly limit?: number;
  /** `last`, `ephemeral`, `untracked`: several writes of one step are an error (default) or the last one counts. */
  readonly concurrent?: boolean;
  /** `topic`: keep the values of earlier steps. */
  readonly accumulate?: boolean;
  /** `topic`: drop values that were there before. */
  readonly unique?: boolean;
}

/** A channel of the state with the types of its value and of what a node may write to it. */
export interface Channel<Value = unknown, Update = Value> {
  readonly rule: ChannelRule;
  readonly "~value"?: Value;
  readonly "~update"?: Update;
}

/** Any channel. */
export type AnyChannel = Channel<unknown, unknown>;
export type Channels = Readonly<Record<string, AnyChannel>>;

export type ChannelValue<C> = C extends Channel<infer Value, infer _Update> ? Value : never;
export type ChannelUpdate<C> = C extends Channel<infer _Value, infer Update> ? Update : never;

interface Default<Value> {
  /** Value before the first write; `undefined` takes the reducer's own default away. */
  readonly default?: Value | undefined;
}

function rule(
  reducer: Reducer,
  standard: Json | undefined,
  options: Default<unknown>,
  more: object = {},
): ChannelRule {
  const value = ("default" in options ? options.default : standard) as Json | undefined;
  return { reducer, ...(value !== undefined && { default: value }), ...more };
}

/**
 * The newest value. Two writes in one step are an error, unless `concurrent` says that the last one counts.
 * Without a default the key is absent until something writes it.
 */
export function last<Value = Json>(
  options: Default<Value> & { readonly concurrent?: boolean } = {},
): Channel<Value> {
  return { rule: rule("last", undefined, options, options.concurrent ? { concurrent: true } : {}) };
}

/** A list that writes are added to: one entry or a list of entries. Default `[]`. */
export function append<Item = Json>(
  options: Default<readonly Item[]> = {},
): Channel<readonly Item[], Item | readonly Item[] | Overwrite<readonly Item[]>> {
  return { rule: rule("append", [], options) };
}

/** A number that writes are added to. Default 0. */
export function sum(options: Default<number> = {}): Channel<number, number | Overwrite<number>> {
  return { rule: rule("sum", 0, options) };
}

/** The greatest number written. */
export function max(options: Default<number> = {}): Channel<number, number | Overwrite<number>> {
  return { rule: rule("max", undefined, options) };
}

/** The smallest number written. */
export function min(options: Default<number> = {}): Channel<number, number | Overwrite<number>> {
  return { rule: rule("min", undefined, options) };
}

/** An object that writes are merged into, one level deep; null keeps what was there. Default `{}`. */
export function merge<Value extends object = JsonObject>(
  options: Default<Partial<Value>> = {},
): Channel<Value, Partial<Value> | null | Overwrite<Value>> {
  return { rule: rule("merge", {}, options) };
}

/** A set kept as a list: equal entries (by canonical JSON) once, in the order of their first write. Default `[]`. */
export function union<Item = Json>(
  options: Default<readonly Item[]> = {},
): Channel<readonly Item[], Item | readonly Item[] | Overwrite<readonly Item[]>> {
  return { rule: rule("union", [], options) };
}

/** A message of a conversation. */
export interface Message {
  readonly role: string;
  readonly content: Json;
  readonly id: string;
  readonly [more: string]: Json;
}

/** What a node may write to a messages channel: without an id, one is made from the task's id. */
export type MessageLike =
  | string
  | {
      readonly role: string;
      readonly content: Json;
      readonly id?: string;
      readonly [more: string]: Json | undefined;
    }
  | { readonly role: "remove"; readonly id: string };

/** A conversation: a known id replaces in place, a new one is appended, `removeMessage(id)` removes. Default `[]`. */
export function messages(
  options: Default<readonly Message[]> = {},
): Channel<readonly Message[], MessageLike | readonly MessageLike[] | Overwrite<readonly Message[]>> {
  return { rule: rule("messages", [], options) };
}

/** Records kept by their `id`: written ones replace in place or are appended; `{ id, $remove: true }` drops. Default `[]`. */
export function byId<Item extends { readonly id: string }>(
  options: Default<readonly Item[]> = {},
): Channel<
  readonly Item[],
  | Item
  | { readonly id: string; readonly $remove: true }
  | readonly (Item | { readonly id: string; readonly $remove: true })[]
  | Overwrite<readonly Item[]>
> {
  return { rule: rule("byId", [], options) };
}

/** A list of the newest `limit` entries. Default `[]`. */
export function bounded<Item = Json>(
  limit: number,
  options: Default<readonly Item[]> = {},
): Channel<readonly Item[], Item | readonly Item[] | Overwrite<readonly Item[]>> {
  return { rule: rule("bounded", [], options, { limit }) };
}

/** A value for the next step only. Two writes in one step are an error, unless `concurrent`. */
export function ephemeral<Value = Json>(
  options: { readonly concurrent?: boolean } = {},
): Channel<Value | undefined, Value> {
  return { rule: { reducer: "ephemeral", ...(options.concurrent && { concurrent: true }) } };
}

/** The values of one step as a list; `accumulate` keeps earlier ones, `unique` drops repeated ones. */
export function topic<Item = Json>(
  options: { readonly accumulate?: boolean; readonly unique?: boolean } = {},
): Channel<readonly Item[] | undefined, Item | readonly Item[]> {
  return {
    rule: {
      reducer: "topic",
      ...(options.accumulate && { accumulate: true }),
      ...(options.unique && { unique: true }),
    },
  };
}

/** The last of several equal writes; empty again after a step that doesn't write it. */
export function any<Value = Json>(): Channel<Value | undefined, Value> {
  return { rule: { reducer: "any" } };
}

/** A value that is never kept for later: gone after a resume, a continue or a new input. */
export function untracked<Value = Json>(
  options: { readonly concurrent?: boolean } = {},
): Channel<Value | undefined, Value> {
  return { rule: { reducer: "untracked", ...(options.concurrent && { concurrent: true }) } };
}

/** A reducer of the code's own, called `name` there; it runs in the worker and its result is recorded. */
export function custom<Value, Update = Value, const Name extends string = string>(
  name: Name,
  options: Default<Value> = {},
): Channel<Value, Update | Overwrite<Value>> & { readonly rule: { readonly name: Name } } {
  return { rule: rule("custom", undefined, options, { name }) as ChannelRule & { readonly name: Name } };
}
