import type { Checkpoint, Frame } from "./checkpoint.js";
import { changeNeeds } from "./change.js";
import { childNamespace } from "./child.js";
import type { CompiledGraph, Program } from "./compile.js";
import { failureOf } from "./failure.js";
import { applyOrder, handlerId, prepare, type Prepared } from "./prepare.js";
import { reductions } from "./reduce.js";
import { draft, eventTask, handlerTask, nodeTask, reduceTask, type Shared, type Task } from "./task.js";
import { updateStage } from "./update.js";
import { groupWrites } from "./write.js";

export type { Task } from "./task.js";

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
    visit(() => {
      const task = draft(shared, id, "updateWriter", node.name, node.name, null);
      task.returned = { value: frame.update!.updates[index]!.values };
      task.state = stage.body.values;
      task.routes = node.routeNames;
      return task;
    }),
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
