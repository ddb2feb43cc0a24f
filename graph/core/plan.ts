import type { Answer, Checkpoint, Frame, NestedRuns } from "./checkpoint.js";
import type { CompiledGraph, CompiledNode, Program } from "./compile.js";
import type { ErrorData } from "./errors.js";
import { changeNeeds } from "./change.js";
import { childNamespace } from "./child.js";
import { failureOf } from "./failure.js";
import { hashId, canonicalJson } from "./hash.js";
import { isJsonObject, type Json, type JsonObject } from "./json.js";
import type { CacheRule, RetryRule, TimeoutRule } from "./manifest.js";
import { startInput } from "./advance.js";
import { applyOrder, handlerId, isStart, prepare, type Prepared } from "./prepare.js";
import { reductions, type ReduceNeed } from "./reduce.js";
import { inputOf } from "./sketch.js";
import { updateStage } from "./update.js";
import { groupWrites } from "./write.js";

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
type Shared = Pick<Task, "namespace" | "path" | "step" | "checkpointId">;

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

function draft(
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

function nodeTask(graph: CompiledGraph, frame: Frame, prepared: Prepared, shared: Shared): Task {
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

function handlerTask(
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

function eventTask(frame: Frame, task: Prepared, shared: Shared): Task {
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

function reduceTask(need: ReduceNeed, shared: Shared): Task {
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

/** True for a task that has neither ended nor waits for an answer. */
function isOpen(frame: Frame, taskId: string): boolean {
  const status = frame.pending[taskId]?.status;
  return status === undefined || status === "ready" || status === "returned";
}

/** Receives what is to be done; returning false ends the search. */
type Visit = (make: () => Task) => boolean;

/** Walks through what is to be done in a frame and below it. False when the visitor has seen enough. */
function visitFrame(program: Program, frames: Frames, namespace: string, visit: Visit): boolean {
  const frame = frames(namespace)!;
  if (frame.status !== "running") return true;
  const graph = program.graphs.get(frame.path)!;
  if (frame.error !== undefined) return true;
  const shared: Shared = {
    namespace,
    path: frame.path,
    step: frame.head.step + 1,
    checkpointId: frame.head.id,
  };
  // An update by hand may take the place of what failed.
  if (frame.update !== undefined) return visitUpdate(graph, frame, shared, visit);
  if (failureOf(graph, frame) !== undefined) return true;
  if (frame.change !== undefined)
    return changeNeeds(graph, frame).every((need) => visit(() => reduceTask(need, shared)));
  const tasks = prepare(graph, frame.head);
  let ended = true;
  for (const task of tasks) {
    const record = frame.pending[task.id];
    if (record?.status === "done") continue;
    if (record?.status === "failed") {
      const handler = frame.pending[handlerId(task.id)];
      if (handler?.status === "done") continue;
      ended = false;
      const isOpenHandler = isOpen(frame, handlerId(task.id));
      if (isOpenHandler && !visit(() => handlerTask(graph, frame, task, record.error, shared))) return false;
      continue;
    }
    ended = false;
    if (!visitTask(program, frames, graph, frame, task, shared, visit)) return false;
  }
  return !ended || visitReductions(graph, frame, tasks, shared, visit);
}

function visitTask(
  program: Program,
  frames: Frames,
  graph: CompiledGraph,
  frame: Frame,
  task: Prepared,
  shared: Shared,
  visit: Visit,
): boolean {
  const inFrame = task.node.subgraph !== undefined && !(task.node.subgraph.durable && !program.inlineDurable);
  if (task.kind === "node" && inFrame && frame.pending[task.id] === undefined) {
    const child = childNamespace(shared.namespace, graph, task);
    return frames(child)?.parent?.task === task.id ? visitFrame(program, frames, child, visit) : true;
  }
  if (!isOpen(frame, task.id)) return true;
  return visit(() =>
    task.kind === "event" ? eventTask(frame, task, shared) : nodeTask(graph, frame, task, shared),
  );
}

function visitReductions(
  graph: CompiledGraph,
  frame: Frame,
  tasks: readonly Prepared[],
  shared: Shared,
  visit: Visit,
): boolean {
  const applied = applyOrder(tasks).flatMap((task) =>
    [frame.pending[task.id], frame.pending[handlerId(task.id)]].flatMap((record) =>
      record?.status === "done"
        ? [{ node: undefined, triggers: [], result: record.result, fires: false }]
        : [],
    ),
  );
  const { needs } = reductions(graph, frame, frame.head.values, groupWrites(applied), "step");
  return needs.every((need) => visit(() => reduceTask(need, shared)));
}

function visitUpdate(graph: CompiledGraph, frame: Frame, shared: Shared, visit: Visit): boolean {
  const stage = updateStage(graph, frame);
  if ("needs" in stage) return stage.needs.every((need) => visit(() => reduceTask(need, shared)));
  if (!("routes" in stage)) return true;
  return stage.routes.every(({ index, id, node }) =>
    visit(() => ({
      ...shared,
      id,
      kind: "updateWriter",
      name: node.name,
      node: node.name,
      triggers: [],
      input: null,
      returned: { value: frame.update!.updates[index]!.values },
      state: stage.body.values,
      routes: node.routes.map((route) => route.name),
      answers: noAnswers,
    })),
  );
}

export type Frames = (namespace: string) => Frame | undefined;

/** True when a task is to be done in the frame or below it. */
export function hasWork(program: Program, frames: Frames, namespace: string): boolean {
  return !visitFrame(program, frames, namespace, () => false);
}

/** The frame with an update by hand under way. */
export function updatedFrame(checkpoint: Checkpoint): string | undefined {
  for (const namespace in checkpoint.frames)
    if (checkpoint.frames[namespace]!.update !== undefined) return namespace;
  return undefined;
}

/**
 * Everything that is to be done now and hasn't been: tasks of all frames. A task stays in the list until `apply` has
 * its result, so whoever runs tasks leaves out those that it is running.
 */
export function plan(program: Program, checkpoint: Checkpoint): readonly Task[] {
  if (checkpoint.status !== "running") return [];
  const tasks: Task[] = [];
  const visit: Visit = (make) => {
    tasks.push(make());
    return true;
  };
  const updated = updatedFrame(checkpoint);
  visitFrame(program, (namespace) => checkpoint.frames[namespace], updated ?? "", visit);
  return tasks;
}
