import { startInput } from "./advance.js";
import type { Answer, Frame, NestedRuns } from "./checkpoint.js";
import type { CompiledGraph, CompiledNode } from "./compile.js";
import type { ErrorData } from "./errors.js";
import { canonicalJson, hashId } from "./hash.js";
import { isJsonObject, type Json, type JsonObject } from "./json.js";
import type { CacheRule, RetryRule, TimeoutRule } from "./manifest.js";
import { handlerId, isStart, type Prepared } from "./prepare.js";
import type { ReduceNeed } from "./reduce.js";
import { inputOf } from "./sketch.js";

/** What whoever runs tasks has to do, as plain data. */
export interface Task {
  readonly id: string;
  /**
   * `node`: the node's code and then its routes; `handler`: its error handler; `event`: an event's handler;
   * `updateWriter`: only the routes, for an update by hand; `reduce`: a reducer of the code's own; `child`: a durable
   * subgraph.
   */
  readonly kind: "node" | "handler" | "event" | "updateWriter" | "reduce" | "child";
  readonly namespace: string;
  /** Names of the subgraph nodes that lead to the graph, joined by `|`. */
  readonly path: string;
  /** Node, event or reducer, by kind. */
  readonly name: string;
  /** The node that the task belongs to. */
  readonly node: string;
  readonly step: number;
  readonly checkpointId: string;
  readonly triggers: readonly string[];
  /** What the code gets; for `reduce`: `{ current?, updates }`; for `event`: the payload. */
  readonly input: Json;
  /** Absent: the code runs. Present: it has run already, or there is none, and only the routes run on this result. */
  readonly returned?: { readonly value: Json };
  /** The state that routes and event handlers read, in kept form; `{}` when nothing reads it. */
  readonly state: JsonObject;
  /** Names of the routes to run after the code. */
  readonly routes: readonly string[];
  readonly answers: readonly Answer[];
  readonly nested?: NestedRuns;
  readonly nestedAnswers?: Readonly<Record<string, Answer>>;
  readonly error?: ErrorData & { readonly node: string };
  readonly retry?: RetryRule;
  readonly timeout?: TimeoutRule;
  readonly cache?: { readonly key: string; readonly ttlMs?: number };
}

/** A task without the parts that only its execution needs. */
export type Shared = Pick<Task, "namespace" | "path" | "step" | "checkpointId">;

const noAnswers: readonly Answer[] = [];
const noNames: readonly string[] = [];
const noState: JsonObject = {};

function cacheOf(
  graph: CompiledGraph,
  node: CompiledNode,
  rule: CacheRule,
  input: Json,
): NonNullable<Task["cache"]> {
  const counted =
    rule.key === undefined || !isJsonObject(input)
      ? input
      : Object.fromEntries(rule.key.map((key) => [key, input[key] ?? null]));
  const { name, version } = graph.manifest;
  return {
    key: hashId(name, version, graph.path, node.name, node.manifest.codeVersion, canonicalJson(counted)),
    ...(rule.ttlMs !== undefined && { ttlMs: rule.ttlMs }),
  };
}

/** A task that can still be completed; fields are set one by one because this runs once for each task of each step. */
type Draft = { -readonly [K in keyof Task]: Task[K] };

/** A task with what every task has. */
export function draft(
  shared: Shared,
  id: string,
  kind: Task["kind"],
  name: string,
  node: string,
  input: Json,
): Draft {
  return {
    id,
    kind,
    namespace: shared.namespace,
    path: shared.path,
    name,
    node,
    step: shared.step,
    checkpointId: shared.checkpointId,
    triggers: noNames,
    input,
    state: noState,
    routes: noNames,
    answers: noAnswers,
  };
}

export function nodeTask(graph: CompiledGraph, frame: Frame, prepared: Prepared, shared: Shared): Task {
  const { node } = prepared;
  const record = frame.pending[prepared.id];
  const start = isStart(prepared) ? startInput(frame.head) : undefined;
  const input = start ?? inputOf(graph, frame.head, prepared);
  const task = draft(shared, prepared.id, "node", node.name, node.name, input);
  task.triggers = prepared.triggers;
  if (record?.status === "returned") task.returned = { value: record.value };
  else if (start !== undefined) task.returned = { value: start };
  else if (node.subgraph !== undefined) task.kind = "child";
  if (node.routes.length > 0) {
    task.state = frame.head.values;
    task.routes = node.routeNames;
  }
  if (record?.status === "ready" || record?.status === "returned") task.answers = record.answers;
  if (record?.status === "ready") {
    if (record.nested) task.nested = record.nested;
    if (record.nestedAnswers) task.nestedAnswers = record.nestedAnswers;
  }
  const { retry, cache, timeout } = node.manifest;
  if (retry) task.retry = retry;
  if (prepared.timeoutMs !== undefined) task.timeout = { runMs: prepared.timeoutMs, refresh: "auto" };
  else if (timeout) task.timeout = timeout;
  if (cache) task.cache = cacheOf(graph, node, cache, input);
  return task;
}

export function handlerTask(
  graph: CompiledGraph,
  frame: Frame,
  task: Prepared,
  error: ErrorData,
  shared: Shared,
): Task {
  const id = handlerId(task.id);
  const record = frame.pending[id];
  return {
    ...shared,
    id,
    kind: "handler",
    name: task.node.manifest.onError!,
    node: task.node.name,
    triggers: [],
    input: inputOf(graph, frame.head, task),
    state: {},
    routes: [],
    answers: record?.status === "ready" ? record.answers : noAnswers,
    error: { ...error, node: task.node.name },
  };
}

export function eventTask(frame: Frame, task: Prepared, shared: Shared): Task {
  const { wait, payload } = task.delivery!;
  return {
    ...shared,
    id: task.id,
    kind: "event",
    name: wait.event,
    node: wait.resume,
    triggers: task.triggers,
    input: payload!,
    state: frame.head.values,
    routes: [],
    answers: noAnswers,
  };
}

export function reduceTask(need: ReduceNeed, shared: Shared): Task {
  return {
    ...shared,
    id: need.id,
    kind: "reduce",
    name: need.reducer,
    node: need.channel,
    triggers: [],
    input: { ...(need.current !== undefined && { current: need.current }), updates: need.updates },
    state: {},
    routes: [],
    answers: noAnswers,
  };
}
