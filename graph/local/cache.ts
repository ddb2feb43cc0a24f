import type { Json } from "../core/json.js";

/** Results of nodes with a cache policy, by key. */
export interface Cache {
  get(key: string): Promise<Json | undefined>;
  /** `ttlMs` undefined: kept for ever. */
  set(key: string, value: Json, ttlMs: number | undefined): Promise<void>;
}

/** A cache in this process. `now` gives milliseconds. */
export function createMemoryCache(now: () => number = () => Date.now()): Cache {
  const entries = new Map<string, { readonly value: Json; readonly expiresAt: number }>();
  return {
    get: async (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.expiresAt > now()) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set: async (key, value, ttlMs) => {
      entries.set(key, { value, expiresAt: ttlMs === undefined ? Number.POSITIVE_INFINITY : now() + ttlMs });
    },
  };
}
