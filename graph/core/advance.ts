import type { Frame, Head, TaskRecord } from "./checkpoint.js";
import type { CompiledGraph } from "./compile.js";
import { applyChange } from "./change.js";
import { view } from "./channels.js";
import { childNamespace, childPath, newInput, removeBelow } from "./child.js";
import { errorData, GraphError } from "./errors.js";
import { failureOf } from "./failure.js";
import { hashId } from "./hash.js";
import { has, type Json, type JsonObject } from "./json.js";
import { marked } from "./markers.js";
import { moveOn } from "./move.js";
import { applyOrder, handlerId, isStart, prepare, type Prepared } from "./prepare.js";
import { reductions } from "./reduce.js";
import { resultOf } from "./result.js";
import { sketch } from "./sketch.js";
import { advanceUpdate } from "./update.js";
import { deliverInbox } from "./waits.js";
import { groupWrites, noResult, write, type Applied } from "./write.js";
import type { Working } from "./working.js";

/** Takes a frame, and the frames below it, as far as the records go. */
export function advance(work: Working, namespace: string): void {
  while (advanceOnce(work, namespace));
}

/** True when the frame moved on and may move again. */
function advanceOnce(work: Working, namespace: string): boolean {
  const frame = work.frame(namespace)!;
  if (frame.status !== "running" || frame.error !== undefined) return false;
  const graph = work.graph(frame);
  if (frame.change !== undefined) {
    applyChange(work, namespace, { enters: true });
    return work.frame(namespace)!.change === undefined;
  }
  if (frame.update !== undefined) return advanceUpdate(work, namespace, frame, graph);
  const tasks = prepare(graph, frame.head);
  if (tasks.length === 0) return false;
  const complete = isComplete(work, namespace, graph, tasks);
  if (endsByCommand(work, namespace, graph, tasks)) return false;
  return complete && commit(work, namespace, graph, tasks);
}

/**
 * Ends the graph when one of its tasks gave a command for the graph around it. What its siblings do, ask or have
 * written counts no more, so nothing waits for them.
 */
function endsByCommand(
  work: Working,
  namespace: string,
  graph: CompiledGraph,
  tasks: readonly Prepared[],
): boolean {
  const frame = work.frame(namespace)!;
  if (frame.parent === null && !work.base.nested) return false;
  if (failureOf(graph, frame) !== undefined) return false;
  const commands = applyOrder(tasks)
    .flatMap((task) => [frame.pending[task.id], frame.pending[handlerId(task.id)]])
    .flatMap((record) =>
      record?.status === "done" && record.result.parent !== undefined ? [record.result.parent] : [],
    );
  const command = commands.at(-1);
  if (command === undefined) return false;
  removeBelow(work, namespace, graph, tasks);
  work.patch(namespace, { status: "done", command, pending: {} });
  return true;
}

/** True when every task has its result. Runs through the subgraphs on the way, and settles what needs no code. */
function isComplete(
  work: Working,
  namespace: string,
  graph: CompiledGraph,
  tasks: readonly Prepared[],
): boolean {
  let complete = true;
  for (const task of tasks) {
    const record = recordOf(work, namespace, graph, task);
    if (record?.status === "done") continue;
    const handled = record?.status === "failed" && task.node.manifest.onError !== undefined;
    if (handled && work.frame(namespace)!.pending[handlerId(task.id)]?.status === "done") continue;
    complete = false;
  }
  return complete && failureOf(graph, work.frame(namespace)!) === undefined;
}

/** The record of a task. For START and for subgraphs it is made here, as soon as it can be. */
function recordOf(
  work: Working,
  namespace: string,
  graph: CompiledGraph,
  task: Prepared,
): TaskRecord | undefined {
  const frame = work.frame(namespace)!;
  const record = frame.pending[task.id];
  if (task.kind === "event")
    return task.delivery!.payload === undefined ? expiredRecord(work, namespace, task) : record;
  if (record !== undefined) return record;
  if (isStart(task))
    return task.node.routes.length === 0 ? startRecord(work, namespace, graph, frame, task) : undefined;
  const subgraph = task.node.subgraph;
  if (subgraph === undefined || (subgraph.durable && !work.program.inlineDurable)) return undefined;
  return subgraphRecord(work, namespace, graph, task);
}

/** The input that START brings in. */
export function startInput(head: Head): Json {
  return (head.control["__start__"] as JsonObject)["input"]!;
}

function startRecord(
  work: Working,
  namespace: string,
  graph: CompiledGraph,
  frame: Frame,
  task: Prepared,
): TaskRecord {
  return settle(work, namespace, task, () =>
    resultOf(graph, task.node, startInput(frame.head), task.id, "input"),
  );
}

/** A wait whose deadline came first: its node for that case is woken, or the run fails. */
function expiredRecord(work: Working, namespace: string, task: Prepared): TaskRecord {
  const { event, onDeadline } = task.delivery!.wait;
  return settle(work, namespace, task, () => {
    if (onDeadline === undefined)
      throw new GraphError("DeadlineExceededError", `event "${event}" didn't come before its deadline`);
    return { ...noResult, goto: [onDeadline] };
  });
}

/** Records what `make` gives, or that it can't be. */
function settle(
  work: Working,
  namespace: string,
  task: Prepared,
  make: () => ReturnType<typeof resultOf>,
): TaskRecord {
  let record: TaskRecord;
  try {
    record = { status: "done", result: make() };
  } catch (thrown) {
    record = { status: "failed", error: errorData(thrown), answers: [] };
  }
  work.record(namespace, task.id, record);
  return record;
}

function subgraphRecord(
  work: Working,
  namespace: string,
  graph: CompiledGraph,
  task: Prepared,
): TaskRecord | undefined {
  const child = childOf(work, namespace, graph, task);
  if (child === undefined) return work.frame(namespace)!.pending[task.id];
  advance(work, child);
  const frame = work.frame(child)!;
  const error = failureOf(work.graph(frame), frame);
  if (error !== undefined) {
    const failed: TaskRecord = { status: "failed", error, answers: [] };
    work.record(namespace, task.id, failed);
    work.events.push({
      type: "taskFailed",
      namespace,
      task: sketch(graph, work.frame(namespace)!.head, task),
      error,
    });
    return failed;
  }
  if (frame.status !== "done") return undefined;
  return returned(work, namespace, graph, task, frame);
}

/** The namespace of the frame that stands for the task; undefined when there can be none. */
function childOf(work: Working, namespace: string, graph: CompiledGraph, task: Prepared): string | undefined {
  const child = childNamespace(namespace, graph, task);
  const existing = work.frame(child);
  if (existing?.parent?.task === task.id) return child;
  const head = work.frame(namespace)!.head;
  const other = prepare(graph, head).find((sibling) => sibling.id === existing?.parent?.task);
  if (other !== undefined) {
    settle(work, namespace, task, () => {
      throw new GraphError(
        "InvalidUpdateError",
        `subgraph "${task.node.name}" keeps its memory per thread, so it can't run twice in one step`,
      );
    });
    return undefined;
  }
  const input = task.arg ?? view(graph, head.values, task.node.input);
  const path = childPath(graph, task.node);
  newInput(work, child, existing, {
    path,
    input,
    branch: hashId(existing?.head.id ?? "", task.id),
    parent: { namespace, task: task.id },
  });
  return child;
}

/** What a subgraph gives to its node: the command that ended it, its output, or only what changed. */
function outputOf(task: Prepared, frame: Frame, input: Json): Json {
  if (frame.command !== undefined) {
    const { graph: _parent, ...command } = marked(frame.command, "$command")!;
    return { $command: command };
  }
  const output = frame.output ?? null;
  if (task.node.subgraph!.returns === "all" || output === null) return output;
  const before = input as JsonObject;
  const same = (key: string) =>
    has(before, key) && JSON.stringify(before[key]) === JSON.stringify((output as JsonObject)[key]);
  return Object.fromEntries(Object.entries(output as JsonObject).filter(([key]) => !same(key)));
}

function returned(
  work: Working,
  namespace: string,
  graph: CompiledGraph,
  task: Prepared,
  child: Frame,
): TaskRecord {
  const head = work.frame(namespace)!.head;
  const value = outputOf(task, child, task.arg ?? view(graph, head.values, task.node.input));
  if (task.node.routes.length > 0) {
    const record: TaskRecord = { status: "returned", value, answers: [] };
    work.record(namespace, task.id, record);
    return record;
  }
  const record = settle(work, namespace, task, () => resultOf(graph, task.node, value, task.id));
  const shown = sketch(graph, head, task);
  if (record.status === "done")
    work.events.push({
      type: "taskEnd",
      namespace,
      task: shown,
      writes: record.result.writes,
      cached: false,
    });
  return record;
}

function appliedOf(frame: Frame, task: Prepared): readonly Applied[] {
  const record = frame.pending[task.id]!;
  if (record.status === "done") {
    const isEvent = task.kind === "event";
    return [
      {
        node: isEvent ? undefined : task.node,
        triggers: isEvent ? [] : task.triggers,
        result: record.result,
        fires: !isEvent,
      },
    ];
  }
  const handler = frame.pending[handlerId(task.id)]!;
  return [
    { node: task.node, triggers: task.triggers, result: undefined, fires: false },
    {
      node: undefined,
      triggers: [],
      result: handler.status === "done" ? handler.result : undefined,
      fires: false,
    },
  ];
}

/** Applies a complete step. False when a reducer of the code's own has still to run, or the step can't be applied. */
function commit(work: Working, namespace: string, graph: CompiledGraph, tasks: readonly Prepared[]): boolean {
  const frame = work.frame(namespace)!;
  const applied = applyOrder(tasks).flatMap((task) => appliedOf(frame, task));
  try {
    const { values, needs } = reductions(graph, frame, frame.head.values, groupWrites(applied), "step");
    if (needs.length > 0) return false;
    const { body, written } = write(graph, frame.head, applied, { counts: true, reduced: values });
    if (tasks.some((task) => task.node.subgraph)) removeBelow(work, namespace, graph, tasks);
    const next = { body: deliverInbox(work, body), written, source: "loop", branch: frame.branch } as const;
    return moveOn(work, namespace, graph, next);
  } catch (thrown) {
    // What the tasks gave can never be applied, so it is dropped: after a continue they run again.
    work.patch(namespace, { error: errorData(thrown), pending: {} });
    return false;
  }
}
