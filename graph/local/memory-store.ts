import type { Store } from "../core/code.js";
import type { Json } from "../core/json.js";
import { plain } from "../core/plain.js";

interface Entry {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: Json;
}

const startsWith = (namespace: readonly string[], prefix: readonly string[]): boolean =>
  prefix.every((part, index) => namespace[index] === part);

/** Values shared by all threads, kept in this process, found by namespace and key. */
export function createMemoryStore(): Store {
  const entries = new Map<string, Entry>();
  const idOf = (namespace: readonly string[], key: string): string => JSON.stringify([namespace, key]);
  return {
    get: async (namespace, key) => entries.get(idOf(namespace, key))?.value,
    put: async (namespace, key, value) => {
      entries.set(idOf(namespace, key), {
        namespace: [...namespace],
        key,
        value: plain(value, `value of "${key}"`),
      });
    },
    delete: async (namespace, key) => {
      entries.delete(idOf(namespace, key));
    },
    search: async (prefix, { limit, offset = 0 } = {}) =>
      [...entries.values()]
        .filter((entry) => startsWith(entry.namespace, prefix))
        .slice(offset, limit === undefined ? undefined : offset + limit),
    listNamespaces: async (prefix = []) => {
      const found = new Map<string, readonly string[]>();
      for (const { namespace } of entries.values())
        if (startsWith(namespace, prefix)) found.set(JSON.stringify(namespace), namespace);
      return [...found.values()];
    },
  };
}
