import type { Frame, Head } from "./checkpoint.js";
import type { CompiledGraph, CompiledNode } from "./compile.js";
import type { Json, JsonObject } from "./json.js";
import { enterStep, nextHead } from "./move.js";
import { prepare, type Prepared } from "./prepare.js";
import { write } from "./write.js";
import type { Working } from "./working.js";

/** Path of the graph behind a subgraph node. */
export function childPath(graph: CompiledGraph, node: CompiledNode): string {
  return graph.path === "" ? node.name : `${graph.path}|${node.name}`;
}

/** Where the frame of a subgraph task lives: under the task's id, or for memory per thread under its path alone. */
export function childNamespace(namespace: string, graph: CompiledGraph, task: Prepared): string {
  if (task.node.subgraph!.memory === "thread") return childPath(graph, task.node);
  const own = `${task.node.name}:${task.id}`;
  return namespace === "" ? own : `${namespace}|${own}`;
}

/** Drops the frames of the tasks' subgraphs and all below them; memory per thread stays. */
export function removeBelow(
  work: Working,
  namespace: string,
  graph: CompiledGraph,
  tasks: readonly Prepared[],
): void {
  for (const task of tasks) {
    if (task.node.subgraph === undefined) continue;
    const child = childNamespace(namespace, graph, task);
    const frame = work.frame(child);
    if (frame === undefined) continue;
    const below = work.graph(frame);
    removeBelow(work, child, below, prepare(below, frame.head));
    if (task.node.subgraph.memory !== "thread") work.remove(child);
  }
}

const emptyHead: Omit<Head, "values"> = {
  id: "",
  parentId: null,
  step: -2,
  source: "input",
  control: {},
  sends: [],
  waits: [],
  deliveries: [],
  versions: {},
  seen: {},
  version: 0,
  passed: 0,
};

/** The head before anything has happened. */
export function freshHead(graph: CompiledGraph): Head {
  return { ...emptyHead, values: graph.initial };
}

/** The state without what is never kept for a later call. */
export function withoutUntracked(graph: CompiledGraph, values: JsonObject): JsonObject {
  if (graph.untracked.length === 0) return values;
  return Object.fromEntries(Object.entries(values).filter(([key]) => !graph.untracked.includes(key)));
}

/** What begins a frame anew. */
export interface NewInput {
  readonly path: string;
  readonly input: Json;
  readonly branch: string;
  readonly parent: Frame["parent"];
}

/**
 * Brings a new input into a graph: tasks that were to run are dropped, arrivals at joins stay, and START is woken.
 */
export function newInput(
  work: Working,
  namespace: string,
  existing: Frame | undefined,
  given: NewInput,
): void {
  const graph = work.program.graphs.get(given.path)!;
  const head = existing?.head ?? freshHead(graph);
  const dropped = prepare(graph, head);
  if (existing !== undefined) removeBelow(work, namespace, graph, dropped);
  const { body } = write(
    graph,
    { ...head, values: withoutUntracked(graph, head.values), waits: [] },
    dropped
      .filter((task) => task.kind === "node")
      .map((task) => ({ node: task.node, triggers: task.triggers, result: undefined, fires: false })),
    { counts: dropped.length > 0, reduced: new Map() },
    { value: given.input },
  );
  const base: Frame = {
    path: given.path,
    parent: given.parent,
    branch: given.branch,
    head,
    stop: head.step + work.base.recursionLimit + 2,
    status: "running",
    pending: {},
  };
  const next = nextHead(work, base, { body, written: [], source: "input", branch: given.branch });
  work.set(namespace, { ...base, head: next });
  work.committed(namespace, []);
  enterStep(work, namespace, graph);
}
