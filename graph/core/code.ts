import type { Json } from "./json.js";
import type { ErrorData } from "./errors.js";
import type { Duration } from "./durations.js";
import type { Schema, SchemaValue } from "./schema.js";
import type { Graph } from "./define.js";
import type {
  CodeNode,
  CustomReducer,
  CustomReducerOf,
  EventName,
  GraphTypes,
  InputOf,
  NodeInput,
  NodeName,
  NodeResult,
  OutputOf,
  RouteAnswer,
  StateOf,
  SubgraphNode,
  UpdateOf,
} from "./types.js";

/** Values shared by all threads, found by namespace and key. */
export interface Store {
  get(namespace: readonly string[], key: string): Promise<Json | undefined>;
  put(namespace: readonly string[], key: string, value: Json): Promise<void>;
  delete(namespace: readonly string[], key: string): Promise<void>;
  search(
    prefix: readonly string[],
    options?: { readonly limit?: number; readonly offset?: number },
  ): Promise<
    readonly { readonly namespace: readonly string[]; readonly key: string; readonly value: Json }[]
  >;
  listNamespaces(prefix?: readonly string[]): Promise<readonly (readonly string[])[]>;
}

/** What code of a graph gets beside the state. */
export interface TaskContext<Context = unknown> {
  /** Name of the node (for an event or a handler: of the node that it is about). */
  readonly node: string;
  /** Id of the task: the same for every attempt and after every restart. */
  readonly taskId: string;
  readonly threadId: string;
  readonly runId: string;
  readonly checkpointId: string;
  /** Path of the subgraph, `[]` for the root. */
  readonly namespace: readonly string[];
  readonly step: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** When the first attempt began, in milliseconds since 1970. */
  readonly firstAttemptAt: number;
  readonly context: Context;
  readonly signal: AbortSignal;
  readonly store: Store;
  /** Emits a chunk of the `custom` stream. */
  write(chunk: Json): void;
  /** Emits a chunk of the `messages` stream, such as a part of a model's answer. */
  message(chunk: Json): void;
  /** Says that the task makes progress, for the idle time-out. */
  heartbeat(): void;
  /** Asks the run to stop at the next step boundary. */
  drain(reason?: string): void;
  /**
   * Asks and stops the task until the answer is there; the task then runs again from its top and this call returns
   * the answer. Answers are matched by position, so the calls must come in the same order each time.
   */
  interrupt<Answer = unknown, S extends Schema = Schema>(
    value: Json,
    options?: { readonly schema?: S; readonly deadline?: Duration },
  ): unknown extends SchemaValue<S> ? Answer : SchemaValue<S>;
  /** Runs another graph inside the task; when it asks, the task stops, and its finished nodes don't run again. */
  runGraph<Child extends GraphTypes>(code: GraphCode<Child>, input: InputOf<Child>): Promise<OutputOf<Child>>;
}

/** The error that a handler deals with. */
export interface NodeFailure extends ErrorData {
  readonly node: string;
}

type MaybePromise<Value> = Value | Promise<Value>;

/** The code of a graph: one function for each name that the definition gives. */
export type Implementation<T extends GraphTypes> = {
  readonly nodes: {
    readonly [N in CodeNode<T>]: (
      input: NodeInput<T, N>,
      context: TaskContext<T["context"]>,
    ) => MaybePromise<NodeResult<T>>;
  };
} & Part<
  "routes",
  {
    readonly [R in keyof T["routes"] & string]: (
      state: StateOf<T>,
      context: TaskContext<T["context"]>,
    ) => MaybePromise<RouteAnswer<T, T["routes"][R]> | readonly RouteAnswer<T, T["routes"][R]>[]>;
  }
> &
  Part<
    "events",
    {
      readonly [E in EventName<T>]: (
        state: StateOf<T>,
        payload: T["events"][E],
        context: TaskContext<T["context"]>,
      ) => MaybePromise<UpdateOf<T> | null | undefined | void>;
    }
  > &
  Part<
    "errorHandlers",
    {
      readonly [H in T["handlers"]]: (
        input: H extends NodeName<T> ? NodeInput<T, H> : StateOf<T>,
        error: NodeFailure,
        context: TaskContext<T["context"]>,
      ) => MaybePromise<NodeResult<T>>;
    }
  > &
  Part<
    "reducers",
    { readonly [Name in CustomReducer<T["state"]> & string]: CustomReducerOf<T["state"], Name> }
  > &
  Part<"subgraphs", { readonly [N in SubgraphNode<T>]: GraphCode<SubgraphTypes<T, N>> }>;

type SubgraphTypes<
  T extends GraphTypes,
  N extends NodeName<T>,
> = T["nodes"][N]["subgraph"] extends infer Child extends GraphTypes ? Child : never;

/** A part that is required when it has names and must be left out when it has none. */
type Part<Name extends string, Functions> = [keyof Functions] extends [never]
  ? { readonly [N in Name]?: Record<string, never> }
  : { readonly [N in Name]: Functions };

/** A function of the code, its types forgotten; `GraphCode` is what knows them. */
export type CodeFunction = (...args: never[]) => unknown;

/** The parts of the code by kind and name, as whoever runs tasks looks them up. */
export interface CodeParts {
  readonly nodes: Readonly<Record<string, CodeFunction>>;
  readonly routes: Readonly<Record<string, CodeFunction>>;
  readonly events: Readonly<Record<string, CodeFunction>>;
  readonly errorHandlers: Readonly<Record<string, CodeFunction>>;
  readonly reducers: Readonly<Record<string, CodeFunction>>;
  readonly subgraphs: Readonly<Record<string, GraphCode>>;
}

/** A graph with its code. */
export interface GraphCode<T extends GraphTypes = GraphTypes> {
  readonly graph: Graph<T>;
  readonly parts: CodeParts;
}
