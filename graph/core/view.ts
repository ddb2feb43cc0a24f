import type { RunStatus, Source } from "./checkpoint.js";
import type { ErrorData } from "./errors.js";
import type { Json, JsonObject } from "./json.js";
import type { JsonSchema } from "./schema.js";

/** An open question. */
export interface Question {
  readonly id: string;
  readonly value: Json;
  readonly node: string;
  /** Namespace of the subgraph that asks, empty for the root. */
  readonly namespace: string;
  readonly taskId: string;
  /** What an answer must look like. */
  readonly schema?: JsonSchema;
  readonly deadlineMs?: number;
}

/** A wait for an event. */
export interface WaitView {
  readonly id: string;
  readonly event: string;
  readonly resume: string;
  readonly namespace: string;
  readonly deadlineMs?: number;
}

/** A join that some of its nodes reached and others didn't. */
export interface UnreleasedJoin {
  readonly namespace: string;
  readonly to: string;
  readonly arrived: readonly string[];
  readonly missing: readonly string[];
}

/** A task of the next step. */
export interface TaskView {
  readonly id: string;
  readonly name: string;
  readonly triggers: readonly string[];
  /** Its open questions. */
  readonly interrupts: readonly Question[];
  readonly error?: ErrorData;
  /** True when it has finished and waits for its siblings. */
  readonly done: boolean;
  /** The subgraph behind it, when asked for. */
  readonly state?: Snapshot;
}

/** A checkpoint as people read it. */
export interface Snapshot {
  readonly values: JsonObject;
  /** The nodes that are still to run in the next step. */
  readonly next: readonly string[];
  readonly tasks: readonly TaskView[];
  readonly step: number | null;
  readonly source: Source | null;
  readonly checkpointId: string | null;
  readonly parentCheckpointId: string | null;
  /** Path as `update` takes it, empty for the root. */
  readonly namespace: string;
  readonly runId: string | null;
  readonly status: RunStatus | null;
  readonly questions: readonly Question[];
  readonly waits: readonly WaitView[];
  readonly unreleasedJoins: readonly UnreleasedJoin[];
  /** ISO 8601; from whoever stores checkpoints. */
  readonly createdAt: string | null;
}
