import type { Duration } from "./durations.js";
import type { Memory } from "./manifest.js";
import type { Schema } from "./schema.js";

/** When a failed node is tried again. `attempts` counts the first one too. */
export interface RetryOptions {
  /** Default 3. */
  readonly attempts?: number;
  /** Wait before the second attempt; default 500 ms. */
  readonly initialInterval?: Duration;
  /** Default 2. */
  readonly backoffFactor?: number;
  /** Default 128 s. */
  readonly maxInterval?: Duration;
  /** Adds a random wait of up to a second; default true. */
  readonly jitter?: boolean;
  /** Names of the errors that are retried; default: all but a list of refusals (`defaultRefusals`). */
  readonly retryOn?: readonly string[];
}

/** Limits of one attempt: a duration for the whole, or parts. */
export type TimeoutOptions =
  Duration | { readonly run?: Duration; readonly idle?: Duration; readonly refresh?: "auto" | "heartbeat" };

export interface CacheOptions {
  /** How long a result is taken; default: for ever. */
  readonly ttl?: Duration;
  /** The fields of the input that count; default: all. */
  readonly key?: readonly string[];
}

export interface InterruptOptions {
  /** What an answer must look like. */
  readonly schema?: Schema;
  /** After this, the question is withdrawn and the node fails with `DeadlineExceededError`. */
  readonly deadline?: Duration;
}

/** What every node may have; also the graph's `defaults`. */
export interface PolicyOptions {
  readonly retry?: RetryOptions;
  readonly timeout?: TimeoutOptions;
  readonly cache?: CacheOptions | true;
}

export interface NodeOptions<Keys extends string, Node extends string, ArgSchema extends Schema> extends Omit<
  PolicyOptions,
  "cache"
> {
  readonly cache?: CacheOptions | boolean;
  /** Waits until nothing else would run. */
  readonly defer?: boolean;
  /** Has an error handler of its own in the code. */
  readonly onError?: boolean;
  /** Schema of the argument; such a node is reached by `send` only. */
  readonly arg?: ArgSchema;
  /** The keys that the node sees; default: all. */
  readonly input?: readonly Keys[];
  /** Where commands of the node may lead. */
  readonly ends?: readonly Node[];
  /** The node (or a route of it) may ask. */
  readonly interrupts?: boolean | InterruptOptions;
  /** No path may lead on from here. */
  readonly terminal?: boolean;
  /** Shown as a tool by pictures and hosts. */
  readonly tool?: boolean;
  /** Default "1". */
  readonly codeVersion?: string;
}

export interface SubgraphOptions<Keys extends string, Node extends string> {
  readonly defer?: boolean;
  readonly onError?: boolean;
  readonly input?: readonly Keys[];
  readonly ends?: readonly Node[];
  readonly terminal?: boolean;
  /** Default `"call"`: each call begins anew, and an interrupted call goes on. */
  readonly memory?: Memory;
  /** A child workflow of its own; default false. */
  readonly durable?: boolean;
  /** Default `"all"`, as LangGraph does; `"changed"` keeps a shared append channel from doubling. */
  readonly returns?: "all" | "changed";
}
