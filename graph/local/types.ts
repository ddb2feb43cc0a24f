import type { Json } from "../core/json.js";
import type { InputOf, GraphTypes, OutputOf } from "../core/types.js";
import type { Store } from "../core/code.js";
import type { Question, Snapshot, UnreleasedJoin, WaitView } from "../core/view.js";
import type { Cache } from "./cache.js";
import type { Checkpointer } from "./checkpointer.js";

/** Modes of a stream; see `docs/graph.md` for what each chunk holds. */
export type StreamMode = "values" | "updates" | "custom" | "messages" | "tasks" | "checkpoints" | "debug";

/** One chunk of a stream. `namespace` is the path of the subgraph, `[]` for the root. */
export interface StreamChunk {
  readonly mode: StreamMode;
  readonly namespace: readonly string[];
  readonly data: Json;
}

export interface RunnerOptions {
  /** Where runs are kept; default: in memory. False: nowhere, so nothing may ask and there is no state to read. */
  readonly checkpointer?: Checkpointer | false;
  /** Values shared by all threads; default: in memory. */
  readonly store?: Store;
  /** Results of nodes with a cache policy; default: in memory. */
  readonly cache?: Cache;
  /** Supersteps of nodes in one call; default 25. */
  readonly recursionLimit?: number;
  /** Tasks in flight at once; default: no limit. */
  readonly maxConcurrency?: number;
}

/** What can be said at each call. */
export interface CallOptions<Context = unknown> {
  /** Default `"default"`. */
  readonly thread?: string;
  /** Starts from this checkpoint instead of the thread's newest. */
  readonly checkpointId?: string;
  /** Names the request; equal requests on equal states give equal ids. Default: counted per thread. */
  readonly requestId?: string;
  readonly context?: Context;
  readonly recursionLimit?: number;
  readonly maxConcurrency?: number;
  readonly interruptBefore?: readonly string[] | "*";
  readonly interruptAfter?: readonly string[] | "*";
  /** Aborts the tasks in flight; the call then fails with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Asked at each step boundary: a reason stops the run there with `GraphDrained`. */
  readonly drain?: () => string | undefined;
}

export interface StreamOptions<Context = unknown> extends CallOptions<Context> {
  /** Default `["updates"]`. */
  readonly modes?: StreamMode | readonly StreamMode[];
  /** Also chunks of subgraphs; default false. */
  readonly subgraphs?: boolean;
}

/** Answers: by question id, or one value when one question is open. */
export type Answers = { readonly answers: Readonly<Record<string, Json>> } | { readonly value: Json };

/** What a command from outside may do: update the state and choose what runs, without running START. */
export interface OutsideCommand {
  readonly update?: Json;
  readonly goto?: Json;
}

/** What a call asks for. */
export type Request<T extends GraphTypes> =
  | { readonly input: InputOf<T> | null }
  | { readonly command: OutsideCommand }
  | (Answers & OutsideCommand)
  | { readonly continue: true }
  | { readonly event: string; readonly payload: Json; readonly eventId?: string };

/** How a call ended. */
export interface RunResult<T extends GraphTypes> {
  /** `interrupted`: questions are open; `breakpoint`: stopped before or after a node; `waiting`: for an event. */
  readonly status: "done" | "interrupted" | "breakpoint" | "waiting";
  /** The output keys as the last step that wrote any of them left them; null when none did. */
  readonly values: OutputOf<T> | null;
  readonly questions: readonly Question[];
  readonly waits: readonly WaitView[];
  /** Joins that some of their nodes reached and others never did. */
  readonly unreleasedJoins: readonly UnreleasedJoin[];
  readonly checkpointId: string;
}

/** One update of a superstep made by hand. */
export interface StateUpdate {
  readonly values: Json;
  readonly asNode?: string;
}

export interface UpdateOptions extends Pick<
  CallOptions,
  "thread" | "checkpointId" | "requestId" | "context"
> {
  /** Path of the subgraph whose state is meant, as in `Snapshot.namespace`. */
  readonly namespace?: string;
}

/** Runs a graph in this process. */
export interface Runner<T extends GraphTypes = GraphTypes> {
  /** Runs from START with this input. */
  invoke(input: InputOf<T> | null, options?: CallOptions<T["context"]>): Promise<RunResult<T>>;
  /** Any request, as a stream of chunks; the stream fails as the call would. */
  stream(request: Request<T>, options?: StreamOptions<T["context"]>): AsyncIterable<StreamChunk>;
  /** Runs each input on a thread of its own (`<thread>/0`, …). */
  batch(
    inputs: readonly (InputOf<T> | null)[],
    options?: CallOptions<T["context"]>,
  ): Promise<readonly RunResult<T>[]>;
  /** Answers open questions and goes on. */
  resume(answers: Answers & OutsideCommand, options?: CallOptions<T["context"]>): Promise<RunResult<T>>;
  /** Goes on after a breakpoint, a failure, a drain or the recursion limit. */
  continue(options?: CallOptions<T["context"]>): Promise<RunResult<T>>;
  /** Any request, run to its end. */
  request(request: Request<T>, options?: CallOptions<T["context"]>): Promise<RunResult<T>>;
  /** Goes on from an older checkpoint, on a branch of its own; the old branch stays. */
  fork(checkpointId: string, options?: CallOptions<T["context"]>): Promise<RunResult<T>>;
  /** Hands an event to the run that waits for it, or keeps it until one does. */
  sendEvent(event: string, payload: Json, options?: CallOptions<T["context"]>): Promise<RunResult<T>>;
  /** Updates the state as if `asNode` had written the values. */
  update(
    values: Json,
    options?: UpdateOptions & { readonly asNode?: string },
  ): Promise<{ readonly checkpointId: string }>;
  /** Several supersteps of updates, in the order given. */
  bulkUpdate(
    supersteps: readonly (readonly StateUpdate[])[],
    options?: UpdateOptions,
  ): Promise<{ readonly checkpointId: string }>;
  state(options?: {
    readonly thread?: string;
    readonly checkpointId?: string;
    readonly subgraphs?: boolean;
    readonly namespace?: string;
  }): Promise<Snapshot>;
  /** Newest first. */
  history(options?: { readonly thread?: string; readonly limit?: number }): Promise<readonly Snapshot[]>;
}
