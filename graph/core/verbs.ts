import type { Checkpoint, Frame, TaskRecord } from "./checkpoint.js";
import type { CompiledGraph, Program } from "./compile.js";
import { finish, type Applying } from "./apply.js";
import { newInput, removeBelow, withoutUntracked } from "./child.js";
import { view } from "./channels.js";
import { GraphError } from "./errors.js";
import { hashId } from "./hash.js";
import type { Json } from "./json.js";
import { enterStep, nextHead } from "./move.js";
import { prepare } from "./prepare.js";
import { Working } from "./working.js";

/** Supersteps of nodes in one call, as LangGraph.js counts them. */
export const defaultRecursionLimit = 25;

/** What each call may set. */
export interface CallSettings {
  /** Names the request; with the state it stands on, it makes the ids of what comes. */
  readonly requestId: string;
  /** Default 25. */
  readonly recursionLimit?: number;
  /** Default: the graph's. */
  readonly interruptBefore?: readonly string[] | "*";
  readonly interruptAfter?: readonly string[] | "*";
}

/** What begins a run. */
export interface StartSettings extends CallSettings {
  /** Logical id of the run. */
  readonly run: string;
  /** False: nothing may ask. Default: the graph's. */
  readonly resumable?: boolean;
  /** True for a run inside a task of another. */
  readonly nested?: boolean;
}

function settings(program: Program, call: CallSettings) {
  const recursionLimit = call.recursionLimit ?? defaultRecursionLimit;
  if (!Number.isInteger(recursionLimit) || recursionLimit < 1)
    throw new GraphError(
      "GraphValueError",
      `recursionLimit is ${JSON.stringify(recursionLimit)}; allowed is a whole number from 1`,
    );
  const { manifest } = program.root;
  return {
    recursionLimit,
    interruptBefore: call.interruptBefore ?? manifest.interruptBefore ?? [],
    interruptAfter: call.interruptAfter ?? manifest.interruptAfter ?? [],
  };
}

/** Id of the branch that a request begins. */
export function branchOf(checkpoint: Checkpoint | undefined, requestId: string): string {
  return hashId(checkpoint?.frames[""]?.head.id ?? "", requestId);
}

/**
 * Begins a run with an input: a fresh one, or on what a thread's last run left. Tasks that were still to run are
 * dropped.
 *
 * @throws GraphError `EmptyInputError` when there is no input
 */
export function start(
  program: Program,
  last: Checkpoint | undefined,
  input: Json | undefined,
  call: StartSettings,
): Applying {
  if (input === undefined || input === null)
    throw new GraphError("EmptyInputError", `graph "${program.root.manifest.name}" got no input`);
  const work = new Working(program, {
    ...settings(program, call),
    format: 1,
    run: call.run,
    status: "running",
    resumable: call.resumable ?? program.root.manifest.resumable,
    frames: last?.frames ?? {},
    inbox: last?.inbox ?? [],
    ...(call.nested && { nested: true }),
  });
  newInput(work, "", work.frame(""), {
    path: "",
    input,
    branch: branchOf(last, call.requestId),
    parent: null,
  });
  return finish(work);
}

/** Makes failed tasks run again; their answers stay. */
function retried(frame: Frame): Frame["pending"] {
  const failed = Object.entries(frame.pending).filter(([, record]) => record.status === "failed");
  if (failed.length === 0) return frame.pending;
  const pending: Record<string, TaskRecord> = { ...frame.pending };
  for (const [id, record] of failed) {
    if (record.status !== "failed") continue;
    const { answers, nested, nestedAnswers } = record;
    pending[id] = {
      status: "ready",
      answers,
      ...(nested && { nested }),
      ...(nestedAnswers && { nestedAnswers }),
    };
  }
  return pending;
}

/** Failed tasks with a handler keep their failure: only the handler runs again. */
function keepHandled(graph: CompiledGraph, frame: Frame, pending: Frame["pending"]): Frame["pending"] {
  const kept: Record<string, TaskRecord> = { ...pending };
  for (const task of prepare(graph, frame.head)) {
    const before = frame.pending[task.id];
    if (before?.status === "failed" && task.node.manifest.onError !== undefined) kept[task.id] = before;
    else if (before?.status === "failed" && task.node.subgraph !== undefined) delete kept[task.id];
  }
  return kept;
}

/** Sets a frame going again: failures forgotten, breakpoints passed, a new budget of steps. */
function reawaken(work: Working, namespace: string): void {
  const frame = work.frame(namespace)!;
  const graph = work.graph(frame);
  const { error: _error, command: _command, update: _update, ...rest } = frame;
  const values = withoutUntracked(graph, frame.head.values);
  const head = { ...frame.head, values, passed: frame.head.version };
  work.set(namespace, {
    ...rest,
    head,
    stop: head.step + work.base.recursionLimit + 2,
    status: "running",
    pending: keepHandled(graph, frame, retried(frame)),
    ...(namespace !== "" && { output: view(graph, values, graph.output) }),
  });
}

/** The frames that tasks stand for now, the root first. */
function liveFrames(work: Working): string[] {
  return work.namespaces().filter((namespace) => {
    const frame = work.frame(namespace)!;
    return frame.parent === null || isServing(work, frame.parent);
  });
}

function isServing(work: Working, parent: NonNullable<Frame["parent"]>): boolean {
  const frame = work.frame(parent.namespace);
  if (frame === undefined) return false;
  if (frame.parent !== null && !isServing(work, frame.parent)) return false;
  return prepare(work.graph(frame), frame.head).some((task) => task.id === parent.task);
}

/** Subgraphs without memory that failed begin anew. */
function forgetFailed(work: Working): void {
  for (const namespace of liveFrames(work)) {
    const frame = work.frame(namespace);
    if (frame === undefined) continue;
    const graph = work.graph(frame);
    const forgotten = prepare(graph, frame.head).filter(
      (task) => task.node.subgraph?.memory === "none" && frame.pending[task.id]?.status === "failed",
    );
    removeBelow(work, namespace, graph, forgotten);
  }
}

/** Sets the run going again where it stands. Shared by all verbs that go on. */
export function awaken(program: Program, checkpoint: Checkpoint, call: CallSettings): Working {
  const { drain: _drain, ...rest } = checkpoint;
  const work = new Working(program, { ...rest, ...settings(program, call), status: "running" });
  forgetFailed(work);
  for (const namespace of liveFrames(work)) reawaken(work, namespace);
  return work;
}

/** Shows again what had ended before this call, and looks at the next step. */
export function enter(work: Working): Applying {
  for (const namespace of liveFrames(work)) {
    const frame = work.frame(namespace)!;
    if (frame.change !== undefined) continue;
    const graph = work.graph(frame);
    work.events.push({ type: "resumed", namespace, head: frame.head });
    showEnded(work, namespace, graph, frame);
    enterStep(work, namespace, graph);
  }
  return finish(work);
}

function showEnded(work: Working, namespace: string, graph: CompiledGraph, frame: Frame): void {
  for (const task of prepare(graph, frame.head)) {
    const record = frame.pending[task.id];
    if (record?.status !== "done" || task.kind !== "node") continue;
    work.events.push({
      type: "taskEnd",
      namespace,
      task: { id: task.id, name: task.node.name, triggers: task.triggers, input: null },
      writes: record.result.writes,
      cached: true,
    });
  }
}

/**
 * Goes on where the run stands: after a breakpoint, a failure, a drain or the recursion limit. Finished tasks don't
 * run again, nor do those that wait for an answer.
 */
export function proceed(program: Program, checkpoint: Checkpoint, call: CallSettings): Applying {
  return enter(awaken(program, checkpoint, call));
}

/**
 * Goes on from an older checkpoint, on a branch of its own.
 *
 * @param checkpoint the run as the older step left it
 * @param options.keepHead true: the older checkpoint itself is gone on from, as after an update at it; its tasks all run
 *   again
 */
export function fork(
  program: Program,
  checkpoint: Checkpoint,
  call: CallSettings,
  options: { readonly keepHead?: boolean } = {},
): Applying {
  const work = awaken(program, checkpoint, call);
  const root = work.root();
  const branch = branchOf(checkpoint, call.requestId);
  removeBelow(work, "", work.graph(root), prepare(work.graph(root), root.head));
  const head = options.keepHead
    ? root.head
    : {
        ...nextHead(work, root, { body: root.head, written: [], source: "fork", branch }),
        passed: root.head.version,
      };
  work.set("", { ...root, branch, head, pending: {} });
  if (!options.keepHead) work.committed("", []);
  return enter(work);
}

/** Asks the run to stop at the next step boundary. */
export function requestDrain(checkpoint: Checkpoint, reason: string): Checkpoint {
  return { ...checkpoint, drain: reason };
}
