import type { Checkpoint } from "../core/checkpoint.js";

/** One checkpoint of a thread as it is kept. */
export interface StoredCheckpoint {
  readonly id: string;
  /** The checkpoint that this one follows, or null. */
  readonly parentId: string | null;
  /** The run as the step left it. */
  readonly committed: Checkpoint;
  /** The run with what has happened since without completing another step. */
  readonly latest: Checkpoint;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Where runs are kept. */
export interface Checkpointer {
  /** Adds the checkpoint, or replaces only `latest` when the thread has its id. */
  save(thread: string, checkpoint: Checkpoint): Promise<void>;
  /** The checkpoint of this id, or the newest. */
  load(thread: string, id?: string): Promise<StoredCheckpoint | undefined>;
  /** Newest first. */
  list(thread: string, limit?: number): Promise<readonly StoredCheckpoint[]>;
  /** How many requests the thread has had, this one included; makes the default request ids. */
  countRequest(thread: string): Promise<number>;
  deleteThread(thread: string): Promise<void>;
}
