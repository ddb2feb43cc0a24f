import type { ErrorData } from "./errors.js";
import type { Json, JsonObject } from "./json.js";
import type { JsonSchema } from "./schema.js";

/** How a checkpoint came about. */
export type Source = "input" | "loop" | "update" | "fork";

/** A task that a `send` asked for. */
export interface SendPacket {
  readonly node: string;
  readonly arg: Json;
  readonly timeoutMs?: number;
}

/** An open wait for an event. */
export interface OpenWait {
  /** Hash of the task that began to wait and the wait's place in its result. */
  readonly id: string;
  readonly event: string;
  readonly resume: string;
  readonly deadlineMs?: number;
  readonly onDeadline?: string;
}

/** An event that met its wait; its handler runs in the next step. */
export interface Delivery {
  readonly wait: OpenWait;
  /** Absent: the deadline came first, and only the node for that case is woken. */
  readonly payload?: Json;
}

/** The state of a graph between two steps. Never changed; a step makes a new one that shares what stayed. */
export interface Head {
  readonly id: string;
  readonly parentId: string | null;
  readonly step: number;
  readonly source: Source;
  /** Channels of the state that hold something. */
  readonly values: JsonObject;
  /** Channels of the control flow that hold something: woken nodes, arrivals at joins, the input of START. */
  readonly control: JsonObject;
  readonly sends: readonly SendPacket[];
  readonly waits: readonly OpenWait[];
  readonly deliveries: readonly Delivery[];
  readonly versions: Readonly<Record<string, number>>;
  /** By node: the versions of its triggers when it last ran. */
  readonly seen: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Greatest version so far. */
  readonly version: number;
  /** Greatest version when a breakpoint was last passed. */
  readonly passed: number;
}

/** A question that a task asked. */
export interface Asked {
  /** Hash of the task's id and the question's place in it. */
  readonly id: string;
  /** Asked by a run inside the task. */
  readonly nested?: true;
  readonly value: Json;
  readonly schema?: JsonSchema;
  readonly deadlineMs?: number;
}

/** The answer to a question, by its place in the task. */
export type Answer = { readonly value: Json } | { readonly expired: true };

/** What a task did, once and for all: node and routes together. */
export interface Result {
  readonly writes: readonly (readonly [string, Json])[];
  readonly goto: readonly string[];
  readonly sends: readonly SendPacket[];
  readonly waits: readonly OpenWait[];
  /** A command for the graph around this one. */
  readonly parent?: Json;
  /** Value of a custom reducer. */
  readonly value?: Json;
}

/** Runs of graphs that a task's code started and that asked or failed, by their place in the task. */
export type NestedRuns = Readonly<Record<string, Checkpoint>>;

/** What is known of a task of the running step. */
export type TaskRecord =
  | { readonly status: "done"; readonly result: Result; readonly cached?: true }
  | {
      readonly status: "failed";
      readonly error: ErrorData;
      /** The failure came after another one had aborted this task. */
      readonly aborted?: true;
      readonly answers: readonly Answer[];
      readonly nested?: NestedRuns;
      /** The answers that `nested` is still to get. */
      readonly nestedAnswers?: Readonly<Record<string, Answer>>;
    }
  | {
      readonly status: "asked";
      readonly asked: readonly Asked[];
      readonly answers: readonly Answer[];
      readonly nested?: NestedRuns;
    }
  /** Runs (again) with these answers. */
  | {
      readonly status: "ready";
      readonly answers: readonly Answer[];
      readonly nested?: NestedRuns;
      readonly nestedAnswers?: Readonly<Record<string, Answer>>;
    }
  /** The subgraph behind the node has returned; the node's routes are still to run. */
  | { readonly status: "returned"; readonly value: Json; readonly answers: readonly Answer[] };

/** Why a graph stands still; `running` when it doesn't. */
export type FrameStatus = "running" | "breakpoint" | "drained" | "outOfSteps" | "done";

/** One graph of a run: the root, or a subgraph that a task of another frame stands for. */
export interface Frame {
  /** Names of the subgraph nodes that lead to the graph, joined by `|`; empty for the root. */
  readonly path: string;
  /** The task that this frame stands for. */
  readonly parent: { readonly namespace: string; readonly task: string } | null;
  /** The next checkpoints' ids are hashes over this and their step. */
  readonly branch: string;
  readonly head: Head;
  /** The frame is out of steps when its next step is greater. */
  readonly stop: number;
  readonly status: FrameStatus;
  readonly pending: Readonly<Record<string, TaskRecord>>;
  /** Why the last step couldn't be applied. */
  readonly error?: ErrorData;
  /** A command for the graph around this one, which ended this one. */
  readonly command?: Json;
  /** Subgraphs: the output as the last step that wrote any of its keys left it. */
  readonly output?: Json;
  /** A change from outside that waits for a reducer that is code; nothing else runs before it. */
  readonly change?: PendingChange;
  /** An update by hand whose routes are still to run. */
  readonly update?: PendingUpdate;
}

/** A change from outside. */
export interface PendingChange {
  readonly result: Result;
  /** Begins a checkpoint of its own with ids from this; absent: changes the head in place. */
  readonly branch?: string;
}

/** An update by hand: the entries of one superstep, in the order given. */
export interface PendingUpdate {
  /** What the new checkpoint's id is made from. */
  readonly branch: string;
  /** Finished tasks of the running step count first, as when the state of a thread's newest checkpoint is edited. */
  readonly takesFinished: boolean;
  readonly updates: readonly { readonly node: string; readonly values: Json }[];
}

export type RunStatus =
  "running" | "done" | "interrupted" | "breakpoint" | "waiting" | "failed" | "drained" | "outOfSteps";

/** An event that has come before its wait. */
export interface InboxEvent {
  readonly id: string;
  readonly event: string;
  readonly payload: Json;
}

/** A run: plain data, the whole of it. */
export interface Checkpoint {
  readonly format: 1;
  /** Logical id of the run: the same after a restart, a reset or in another process. */
  readonly run: string;
  readonly status: RunStatus;
  readonly recursionLimit: number;
  readonly interruptBefore: readonly string[] | "*";
  readonly interruptAfter: readonly string[] | "*";
  /** False: nothing may ask. */
  readonly resumable: boolean;
  /** By namespace; the root is the empty one. */
  readonly frames: Readonly<Record<string, Frame>>;
  readonly inbox: readonly InboxEvent[];
  /** True for a run inside a task of another: a command for the graph around it is the task's. */
  readonly nested?: true;
  /** Why the run is to stop at the next step boundary. */
  readonly drain?: string;
}
