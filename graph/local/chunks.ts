import { view } from "../core/channels.js";
import type { Checkpoint, Head } from "../core/checkpoint.js";
import type { CompiledGraph, Program } from "../core/compile.js";
import type { ErrorData } from "../core/errors.js";
import type { StepEvent, TaskSketch } from "../core/events.js";
import { stepTasks } from "../core/sketch.js";
import type { Attempt } from "../core/execute.js";
import type { Json, JsonObject } from "../core/json.js";
import { START } from "../core/markers.js";
import type { Task } from "../core/plan.js";
import { finishedValues, type ReduceNow } from "../core/snapshot.js";
import type { Question } from "../core/view.js";
import type { StreamChunk, StreamMode } from "./types.js";

type Write = readonly [string, Json];

/** What a chunk stream needs to know. */
export interface ChunkSettings {
  readonly program: Program;
  readonly modes: ReadonlySet<StreamMode>;
  readonly subgraphs: boolean;
  /** Keys of the root's state that `values` and `updates` show. */
  readonly rootKeys: ReadonlySet<string>;
  /** Prefix of the namespaces, for a run inside a task. */
  readonly prefix: readonly string[];
  /** No checkpoints are kept, so none are shown. */
  readonly keepsCheckpoints: boolean;
  push(chunk: StreamChunk): void;
}

/** Name of the node in streams: an error handler shows as itself. */
function shownName(task: Task): string {
  if (task.kind !== "handler") return task.node;
  return task.name === "*" ? "__default_error_handler__" : `__error_handler__${task.node}`;
}

/** The writes as one object, or a list of objects when a key was written twice. */
function updatesOf(writes: readonly Write[]): Json {
  const keys = new Set(writes.map(([key]) => key));
  if (keys.size === writes.length) return Object.fromEntries(writes);
  return writes.map(([key, value]) => ({ [key]: value }));
}

/** The writes as one object; a key that was written twice holds all its writes. */
function resultOf(writes: readonly Write[]): JsonObject {
  const result: Record<string, Json> = {};
  const counts = new Map<string, Json[]>();
  for (const [key, value] of writes) counts.set(key, [...(counts.get(key) ?? []), value]);
  for (const [key, values] of counts) result[key] = values.length === 1 ? values[0]! : { $writes: values };
  return result;
}

/** Turns what happens in a run into chunks. */
export class Chunks {
  readonly #settings: ChunkSettings;
  /** Tasks whose questions this call has shown. */
  readonly #asked = new Set<string>();

  constructor(settings: ChunkSettings) {
    this.#settings = settings;
  }

  #push(mode: StreamMode, namespace: string, data: Json): void {
    const { modes, subgraphs, prefix, push } = this.#settings;
    if (!modes.has(mode)) return;
    const path = namespace === "" ? prefix : [...prefix, ...namespace.split("|")];
    if (path.length === 0 || subgraphs) push({ mode, namespace: path, data });
  }

  #keys(namespace: string, graph: CompiledGraph): ReadonlySet<string> {
    return namespace === "" ? this.#settings.rootKeys : graph.output;
  }

  #graph(path: string): CompiledGraph {
    return this.#settings.program.graphs.get(path)!;
  }

  #values(namespace: string, graph: CompiledGraph, values: JsonObject): void {
    if (this.#settings.modes.has("values"))
      this.#push("values", namespace, view(graph, values, this.#keys(namespace, graph)));
  }

  #debug(type: string, namespace: string, step: number, payload: Json): void {
    this.#push("debug", namespace, { type, step, payload });
  }

  event(event: StepEvent, checkpoint: Checkpoint): void {
    if (this.#settings.modes.size === 0) return;
    const { namespace } = event;
    const path = checkpoint.frames[namespace]?.path ?? pathOf(namespace);
    const graph = this.#graph(path);
    switch (event.type) {
      case "resumed":
        return this.#values(namespace, graph, event.head.values);
      case "checkpoint": {
        const keys = this.#keys(namespace, graph);
        if (event.written.some((key) => keys.has(key))) this.#values(namespace, graph, event.head.values);
        return undefined;
      }
      case "step":
        return this.#step(namespace, graph, event.head, event.begins);
      case "taskEnd":
        return this.#taskEnd(namespace, graph, event.task, event.writes, event.cached);
      case "taskFailed":
        return this.#taskResult(namespace, event.task, {}, [], event.error, checkpoint);
    }
  }

  #step(namespace: string, graph: CompiledGraph, head: Head, begins: boolean): void {
    const { modes } = this.#settings;
    if (!modes.has("checkpoints") && !modes.has("tasks") && !modes.has("debug")) return;
    const { next, tasks } = stepTasks(graph, head);
    if (this.#settings.keepsCheckpoints && (modes.has("checkpoints") || modes.has("debug"))) {
      const payload = {
        checkpointId: head.id,
        parentCheckpointId: head.parentId,
        step: head.step,
        source: head.source,
        next,
        values: view(graph, head.values, this.#keys(namespace, graph)),
      };
      this.#push("checkpoints", namespace, payload);
      this.#debug("checkpoint", namespace, head.step, payload);
    }
    if (begins && (modes.has("tasks") || modes.has("debug")))
      for (const { id, name, triggers, input } of tasks) {
        const payload = { id, name, triggers, input };
        this.#push("tasks", namespace, payload);
        this.#debug("task", namespace, head.step + 1, payload);
      }
  }

  #taskEnd(
    namespace: string,
    graph: CompiledGraph,
    task: TaskSketch,
    writes: readonly Write[],
    cached: boolean,
  ): void {
    this.#updates(namespace, graph, task.name, writes, cached);
    if (!cached) this.#taskResult(namespace, task, resultOf(writes), [], undefined, undefined);
  }

  #updates(
    namespace: string,
    graph: CompiledGraph,
    name: string,
    writes: readonly Write[],
    cached: boolean,
  ): void {
    if (!this.#settings.modes.has("updates")) return;
    const keys = this.#keys(namespace, graph);
    this.#push("updates", namespace, {
      [name]: updatesOf(writes.filter(([key]) => keys.has(key))),
      ...(cached && { __metadata__: { cached: true } }),
    });
  }

  #taskResult(
    namespace: string,
    task: { readonly id: string; readonly name: string },
    result: JsonObject,
    interrupts: readonly Json[],
    error: ErrorData | undefined,
    checkpoint: Checkpoint | undefined,
  ): void {
    const { modes } = this.#settings;
    if (!modes.has("tasks") && !modes.has("debug")) return;
    const payload: Json = {
      id: task.id,
      name: task.name,
      result,
      interrupts,
      error: error === undefined ? null : { name: error.name, message: error.message },
    };
    this.#push("tasks", namespace, payload);
    const step = checkpoint?.frames[namespace]?.head.step;
    this.#debug("task_result", namespace, step === undefined ? 0 : step + 1, payload);
  }

  /** A task that the host ran has ended. */
  ended(task: Task, attempt: Attempt, cached: boolean, checkpoint: Checkpoint): void {
    if (this.#settings.modes.size === 0) return;
    if (task.kind === "reduce" || task.kind === "updateWriter" || task.node === START) return;
    const graph = this.#graph(task.path);
    const shown = { id: task.id, name: shownName(task) };
    const { record } = attempt;
    if (record.status === "asked") {
      this.#asked.add(task.id);
      const questions = record.asked.map(({ nested: _nested, ...question }) => question) as unknown as Json[];
      this.interrupted(task.namespace, questions);
      this.#taskResult(task.namespace, shown, {}, questions, undefined, checkpoint);
    } else if (record.status === "failed")
      this.#taskResult(task.namespace, shown, {}, [], record.error, checkpoint);
    else {
      const { writes } = record.result;
      this.#updates(task.namespace, graph, shown.name, writes, cached);
      const keys = graph.channels;
      this.#taskResult(
        task.namespace,
        shown,
        resultOf(writes.filter(([key]) => keys.has(key))),
        [],
        undefined,
        checkpoint,
      );
    }
  }

  /** Questions, or with none a breakpoint. */
  interrupted(namespace: string, questions: readonly Json[]): void {
    this.#push("updates", namespace, { $interrupts: questions });
    this.#push("values", namespace, { $interrupts: questions });
  }

  /** The run rests: what the root's finished tasks have written, and the questions that nothing has shown yet. */
  resting(checkpoint: Checkpoint, questions: readonly Question[], reduce: ReduceNow): void {
    const root = checkpoint.frames[""]!;
    const graph = this.#graph("");
    const open = questions.filter(
      (question) => !(question.namespace === "" && this.#asked.has(question.taskId)),
    );
    if (open.length > 0) this.interrupted("", open as unknown as Json[]);
    const { values, written } = finishedValues(graph, root, "output", reduce);
    if (written.some((key) => this.#settings.rootKeys.has(key))) this.#values("", graph, values);
    if (checkpoint.status === "breakpoint") this.interrupted("", []);
  }
}

/** The path of a namespace: its parts without the ids of tasks. */
export function pathOf(namespace: string): string {
  return namespace
    .split("|")
    .map((part) => part.split(":")[0]!)
    .join("|");
}
