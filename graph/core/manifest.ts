import type { Json } from "./json.js";
import type { JsonSchema } from "./schema.js";
import type { ChannelRule } from "./state.js";

/** What a policy without `retryOn` refuses to try again; the rest is retried. */
export interface Refusals {
  readonly names: readonly string[];
  readonly codes: readonly string[];
  readonly statuses: readonly number[];
  readonly messagePrefixes: readonly string[];
}

/** When a failed task is tried again, all as data for whoever runs it. */
export interface RetryRule {
  /** Attempts in total, the first one included. */
  readonly attempts: number;
  readonly initialIntervalMs: number;
  readonly backoffFactor: number;
  readonly maxIntervalMs: number;
  /** A random wait of up to this is added, so that many tasks that failed together don't come back together. */
  readonly jitterMs: number;
  /** Only errors with these names are retried. */
  readonly retryOn?: readonly string[];
  /** Without `retryOn`: what is refused. */
  readonly refuse?: Refusals;
}

/** Limits of one attempt. */
export interface TimeoutRule {
  readonly runMs?: number;
  /** Time without progress. */
  readonly idleMs?: number;
  /** What counts as progress: anything the node emits (`auto`), or only `ctx.heartbeat()`. */
  readonly refresh: "auto" | "heartbeat";
}

/** A task with the same input takes the stored result. */
export interface CacheRule {
  readonly ttlMs?: number;
  /** The fields of the input that count; absent: the whole input. */
  readonly key?: readonly string[];
}

/** That a node may ask, and what an answer must look like unless the call says otherwise. */
export interface InterruptRule {
  readonly schema?: JsonSchema;
  readonly deadlineMs?: number;
}

/** How a subgraph remembers: per call, per thread, or not at all. */
export type Memory = "call" | "thread" | "none";

export interface NodeManifest {
  /** Raised by hand when the code behind the name changes its meaning, so that the hash changes with it. */
  readonly codeVersion: string;
  readonly defer?: boolean;
  readonly terminal?: boolean;
  readonly tool?: boolean;
  readonly retry?: RetryRule;
  readonly timeout?: TimeoutRule;
  readonly cache?: CacheRule;
  /** The keys that the node sees; absent: all. */
  readonly input?: readonly string[];
  /** Where the node's commands may lead. */
  readonly ends?: readonly string[];
  /** Name of the error handler: the node's own, or `*` for the graph's default one. */
  readonly onError?: string;
  /** Schema of the argument; such a node is reached by `send` only. */
  readonly arg?: JsonSchema;
  readonly interrupts?: InterruptRule;
  readonly subgraph?: SubgraphManifest;
}

export interface SubgraphManifest {
  readonly graph: Manifest;
  readonly memory: Memory;
  /** A child workflow of its own instead of a namespace in this run. */
  readonly durable?: boolean;
  /** `all`: the whole output goes into the parent's reducers; `changed`: only the keys that differ from the input. */
  readonly returns: "all" | "changed";
}

export interface RouteManifest {
  readonly name: string;
  readonly from: string;
  /** What the route may answer, and the node behind each answer. */
  readonly targets: Readonly<Record<string, string>>;
}

export interface JoinManifest {
  readonly from: readonly string[];
  readonly to: string;
}

export interface EventManifest {
  readonly schema?: JsonSchema;
}

/** A graph as plain data: everything but the code. */
export interface Manifest {
  readonly format: 1;
  readonly name: string;
  readonly version: string;
  /** `object`: the state is one model with the rules of `object(…)`; `channels`: each key has its reducer. */
  readonly mode: "channels" | "object";
  readonly state: Readonly<Record<string, ChannelRule>>;
  readonly model?: JsonSchema;
  readonly modelDefault?: Json;
  readonly input: readonly string[];
  readonly output: readonly string[];
  /** False: runs keep no checkpoint, so nothing may ask. */
  readonly resumable: boolean;
  readonly nodes: Readonly<Record<string, NodeManifest>>;
  /** Sorted, because their order means nothing. */
  readonly edges: readonly (readonly [string, string])[];
  readonly joins: readonly JoinManifest[];
  readonly routes: readonly RouteManifest[];
  readonly events: Readonly<Record<string, EventManifest>>;
  readonly interruptBefore?: readonly string[] | "*";
  readonly interruptAfter?: readonly string[] | "*";
}
