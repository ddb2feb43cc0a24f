import type { AnyChannel } from "../core/state.js";
import * as channels from "../core/state.js";
import { CaseFileError, type ReducerFunction } from "./functions.js";

/** A named reducer of the core beside a function that says the same, for the reference engine, which has no names. */
export interface BuiltIn {
  channel(limit: number | undefined, options: { default?: never }): AnyChannel;
  /** The reducer's own default. */
  readonly value: unknown;
  reduce(limit: number | undefined): ReducerFunction;
}

/** Entries that `bounded` keeps when a case doesn't say. */
const defaultLimit = 10;

/** The core's named reducers; `messages` isn't among them, since both engines have it. */
const builtIns: Readonly<Record<string, BuiltIn>> = {
  append: { channel: (_limit, options) => channels.append(options), value: [], reduce: () => appended },
  sum: { channel: (_limit, options) => channels.sum(options), value: 0, reduce: numeric((a, b) => a + b) },
  max: { channel: (_limit, options) => channels.max(options), value: undefined, reduce: numeric(Math.max) },
  min: { channel: (_limit, options) => channels.min(options), value: undefined, reduce: numeric(Math.min) },
  merge: { channel: (_limit, options) => channels.merge(options), value: {}, reduce: () => merged },
  union: { channel: (_limit, options) => channels.union(options), value: [], reduce: () => united },
  byId: { channel: (_limit, options) => channels.byId(options), value: [], reduce: () => upserted },
  bounded: {
    channel: (limit, options) => channels.bounded(limit ?? defaultLimit, options),
    value: [],
    reduce: (limit) => (current, update) => appended(current, update).slice(-(limit ?? defaultLimit)),
  },
};

/** @throws CaseFileError when there is no such reducer, naming those that there are */
export function builtInNamed(name: string | undefined, place: string): BuiltIn {
  const found = name !== undefined && Object.hasOwn(builtIns, name) ? builtIns[name] : undefined;
  if (found !== undefined) return found;
  throw new CaseFileError(
    `${place}: no built-in reducer ${JSON.stringify(name ?? null)}; there are ${Object.keys(builtIns).join(", ")}`,
  );
}

function appended(current: unknown, update: unknown): unknown[] {
  return (current as unknown[]).concat(update);
}

function numeric(combine: (a: number, b: number) => number) {
  return () => (current: unknown, update: unknown) => combine(current as number, update as number);
}

function merged(current: unknown, update: unknown): unknown {
  return update === null ? current : { ...(current as object), ...(update as object) };
}

/** Equal entries once, told by their JSON: cases write keys in one order. */
function united(current: unknown, update: unknown): unknown[] {
  const entries = new Map<string, unknown>();
  for (const entry of appended(current, update)) {
    const text = JSON.stringify(entry);
    if (!entries.has(text)) entries.set(text, entry);
  }
  return [...entries.values()];
}

interface Entry {
  readonly id: string;
  readonly $remove?: true;
}

function upserted(current: unknown, update: unknown): unknown[] {
  const entries = new Map((current as Entry[]).map((entry) => [entry.id, entry]));
  for (const entry of [update].flat() as Entry[]) {
    if (entry.$remove === true) entries.delete(entry.id);
    else entries.set(entry.id, entry);
  }
  return [...entries.values()];
}
