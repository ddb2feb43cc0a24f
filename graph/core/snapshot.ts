import { needsCode, updated, view } from "./channels.js";
import type { Checkpoint, Frame } from "./checkpoint.js";
import { childNamespace, withoutUntracked } from "./child.js";
import type { CompiledGraph, Program } from "./compile.js";
import type { Json, JsonObject } from "./json.js";
import { declaredOrder, handlerId, prepare, type Prepared } from "./prepare.js";
import { openQuestions, question, questionsOf, unreleasedJoins, waitsOf } from "./questions.js";
import type { ReduceNeed } from "./reduce.js";
import { sortOut } from "./reducers.js";
import { finishedTasks } from "./update.js";
import type { Snapshot, TaskView, UnreleasedJoin } from "./view.js";
import { groupWrites } from "./write.js";

/** Tells the value of a reducer that is code; without it, such channels show what was there before the step. */
export type ReduceNow = (path: string, need: Omit<ReduceNeed, "id">) => Json;

export interface SnapshotSettings {
  /** Namespace of the frame; default: the root. */
  readonly namespace?: string;
  /** Show finished tasks of the running step as applied, as for the newest checkpoint of a thread. */
  readonly appliesFinished: boolean;
  /** Also the states of subgraphs. */
  readonly subgraphs?: boolean;
  readonly reduce?: ReduceNow;
  readonly createdAt?: string;
}

/**
 * The state keys that finished tasks of the running step have written, applied where that can be told.
 *
 * @param of what shows them: in the `output` of a call, values for one step only are there as those tasks wrote them;
 *   in the `state` they aren't, because they are for the next step, which hasn't begun
 */
export function finishedValues(
  graph: CompiledGraph,
  frame: Frame,
  of: "output" | "state",
  reduce?: ReduceNow,
): { readonly values: JsonObject; readonly written: readonly string[] } {
  const finished = finishedTasks(frame, prepare(graph, frame.head));
  if (finished.length === 0) return { values: frame.head.values, written: [] };
  const groups = groupWrites(finished);
  const values: Record<string, Json> = { ...frame.head.values };
  try {
    for (const [key, writes] of groups) {
      const current = frame.head.values[key];
      const rule = graph.channels.get(key)!;
      let reduced: Json | undefined;
      if (needsCode(rule, current, writes, key)) {
        if (reduce === undefined) continue;
        reduced = reduce(frame.path, { channel: key, reducer: rule.name!, ...sortOut(current, writes, key) });
      }
      const value = updated(graph, key, current, writes, reduced);
      if (value !== undefined) values[key] = value;
    }
    for (const key of graph.emptying) if (of === "state" || !groups.has(key)) delete values[key];
  } catch {
    // What has finished can't be applied together: the state stays readable as the last step left it.
    return { values: frame.head.values, written: [] };
  }
  return { values, written: [...groups.keys()] };
}

function isEnded(frame: Frame, task: Prepared): boolean {
  return frame.pending[task.id]?.status === "done" || frame.pending[handlerId(task.id)]?.status === "done";
}

function taskView(
  program: Program,
  checkpoint: Checkpoint,
  namespace: string,
  frame: Frame,
  task: Prepared,
  settings: SnapshotSettings,
): TaskView {
  const record = frame.pending[task.id];
  const graph = program.graphs.get(frame.path)!;
  const child = task.node.subgraph === undefined ? undefined : childNamespace(namespace, graph, task);
  const isServed = child !== undefined && checkpoint.frames[child]?.parent?.task === task.id;
  const own = openQuestions(program, checkpoint, namespace).filter(
    (open) => open.namespace === namespace && (open.taskId === task.id || open.taskId === handlerId(task.id)),
  );
  const below = isServed && record === undefined ? openQuestions(program, checkpoint, child) : [];
  const error = record?.status === "failed" ? record.error : undefined;
  return {
    id: task.id,
    name: task.node.name,
    triggers: task.triggers,
    interrupts: [...own, ...below].map(question),
    done: isEnded(frame, task),
    ...(error && { error }),
    ...(settings.subgraphs &&
      child !== undefined &&
      task.node.subgraph!.memory !== "none" &&
      error === undefined && {
        // A subgraph that hasn't begun has a state too: an empty one, or with memory per thread what it remembers.
        state: checkpoint.frames[child]
          ? snapshot(program, checkpoint, { ...settings, namespace: child, appliesFinished: true })
          : { ...nothing, namespace: child },
      }),
  };
}

/** The checkpoint of one graph of a run as people read it. */
export function snapshot(program: Program, checkpoint: Checkpoint, settings: SnapshotSettings): Snapshot {
  const namespace = settings.namespace ?? "";
  const frame = checkpoint.frames[namespace];
  if (frame === undefined) return { ...nothing, namespace };
  const graph = program.graphs.get(frame.path)!;
  const { head } = frame;
  const tasks = declaredOrder(graph, prepare(graph, head));
  const values = settings.appliesFinished
    ? finishedValues(graph, frame, "state", settings.reduce).values
    : head.values;
  return {
    values: view(graph, withoutUntracked(graph, values)),
    next: tasks
      .filter((task) => !settings.appliesFinished || !isEnded(frame, task))
      .map((task) => task.node.name),
    tasks: tasks.map((task) => taskView(program, checkpoint, namespace, frame, task, settings)),
    step: head.step,
    source: head.source,
    checkpointId: head.id,
    parentCheckpointId: head.parentId,
    namespace,
    runId: checkpoint.run,
    status: checkpoint.status,
    questions: questionsOf(program, checkpoint),
    waits: waitsOf(program, checkpoint),
    unreleasedJoins: unreleasedJoins(program, frame, namespace),
    createdAt: settings.createdAt ?? null,
  };
}

/** What a thread without a run shows. */
export const nothing: Snapshot = {
  values: {},
  next: [],
  tasks: [],
  step: null,
  source: null,
  checkpointId: null,
  parentCheckpointId: null,
  namespace: "",
  runId: null,
  status: null,
  questions: [],
  waits: [],
  unreleasedJoins: [],
  createdAt: null,
};

/** The joins of the root that some of their nodes have reached and others never did, once the run has ended. */
export function joinsLeft(program: Program, checkpoint: Checkpoint): readonly UnreleasedJoin[] {
  return unreleasedJoins(program, checkpoint.frames[""]!, "");
}
