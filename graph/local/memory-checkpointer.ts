import type { Checkpoint } from "../core/checkpoint.js";
import type { Checkpointer, StoredCheckpoint } from "./checkpointer.js";

interface Thread {
  /** In the order in which they came about. */
  readonly byId: Map<string, StoredCheckpoint & { latest: Checkpoint }>;
  newest: string | undefined;
  requests: number;
}

/**
 * Keeps runs in this process. Checkpoints share what stayed the same between them, so a step costs what it changed.
 *
 * @param now gives milliseconds since 1970
 */
export function createMemoryCheckpointer(now: () => number = () => Date.now()): Checkpointer {
  const threads = new Map<string, Thread>();
  const threadOf = (name: string): Thread => {
    let thread = threads.get(name);
    if (thread === undefined)
      threads.set(name, (thread = { byId: new Map(), newest: undefined, requests: 0 }));
    return thread;
  };
  const keep = (thread: Thread, checkpoint: Checkpoint): void => {
    const { head } = checkpoint.frames[""]!;
    const known = thread.byId.get(head.id);
    if (known === undefined) {
      thread.newest = head.id;
      const { id, parentId } = head;
      thread.byId.set(id, { id, parentId, committed: checkpoint, latest: checkpoint, createdAt: now() });
    } else known.latest = checkpoint;
  };
  const newestFirst = (thread: Thread): StoredCheckpoint[] => [...thread.byId.values()].reverse();
  return {
    save: async (thread, checkpoint) => keep(threadOf(thread), checkpoint),
    load: async (name, id) => {
      const thread = threads.get(name);
      if (thread === undefined) return undefined;
      const wanted = id ?? thread.newest;
      return wanted === undefined ? undefined : thread.byId.get(wanted);
    },
    list: async (name, limit) => newestFirst(threadOf(name)).slice(0, limit),
    countRequest: async (name) => (threadOf(name).requests += 1),
    deleteThread: async (name) => {
      threads.delete(name);
    },
  };
}
