import type { Checkpoint, Head } from "./checkpoint.js";
import type { ErrorData } from "./errors.js";
import type { Json } from "./json.js";

/** A task as streams show it. */
export interface TaskSketch {
  readonly id: string;
  readonly name: string;
  readonly triggers: readonly string[];
  readonly input: Json;
}

/** What happened inside the interpreter, for streams. The host itself sees its own tasks begin and end. */
export type StepEvent =
  /** A checkpoint came about; `written` are the state keys that its step wrote. */
  | {
      readonly type: "checkpoint";
      readonly namespace: string;
      readonly head: Head;
      readonly written: readonly string[];
      /** The whole run at that moment; for checkpoints of the root, to be kept. */
      readonly checkpoint?: Checkpoint;
    }
  /** A graph goes on where an earlier call left it: its whole state is news. */
  | { readonly type: "resumed"; readonly namespace: string; readonly head: Head }
  /** A frame has come to a next step, which begins unless something stops the run before it; see `stepTasks`. */
  | {
      readonly type: "step";
      readonly namespace: string;
      readonly path: string;
      readonly head: Head;
      readonly begins: boolean;
    }
  /** A task ended without the host: a subgraph, or one that had ended in an earlier call (`cached`). */
  | {
      readonly type: "taskEnd";
      readonly namespace: string;
      readonly task: TaskSketch;
      readonly writes: readonly (readonly [string, Json])[];
      readonly cached: boolean;
    }
  | {
      readonly type: "taskFailed";
      readonly namespace: string;
      readonly task: TaskSketch;
      readonly error: ErrorData;
    };
