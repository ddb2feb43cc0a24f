import type { Applying } from "../core/apply.js";
import { view } from "../core/channels.js";
import type { Checkpoint, Head } from "../core/checkpoint.js";
import type { GraphCode, Store } from "../core/code.js";
import { compile, type Program } from "../core/compile.js";
import { GraphError, type ErrorData } from "../core/errors.js";
import { codeAt } from "../core/execute.js";
import { failureOf } from "../core/failure.js";
import type { Json, JsonObject } from "../core/json.js";
import { questionsOf } from "../core/questions.js";
import type { NestedOutcome, NestedRequest } from "../core/scope.js";
import { finishedValues, type ReduceNow } from "../core/snapshot.js";
import { proceed, start } from "../core/verbs.js";
import { expireQuestion, resume } from "../core/resume.js";
import { Chunks, type ChunkSettings } from "./chunks.js";
import { Drive } from "./drive.js";
import type { CallEnvironment } from "./attempts.js";
import type { Cache } from "./cache.js";
import type { StreamChunk, StreamMode } from "./types.js";
import type { Task } from "../core/plan.js";

/** What one call of a runner works with. */
export interface CallSetup {
  readonly code: GraphCode;
  readonly threadId: string;
  readonly context: unknown;
  readonly store: Store;
  readonly cache: Cache;
  readonly now: () => number;
  readonly maxConcurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly modes: ReadonlySet<StreamMode>;
  readonly subgraphs: boolean;
  /** `values` and `updates` show all keys of the root, or only its output. */
  readonly showsAllKeys: boolean;
  readonly prefix: readonly string[];
  readonly keepsCheckpoints: boolean;
  push(chunk: StreamChunk): void;
  keep(checkpoint: Checkpoint): Promise<void> | undefined;
  drainReason(): string | undefined;
}

/** A run at rest, and what it gave. */
export interface CallEnd {
  readonly checkpoint: Checkpoint;
  /** The output as the last step that wrote any of its keys left it. */
  readonly output: JsonObject | undefined;
  /** What to throw when the run failed. */
  readonly thrown: unknown;
}

/** Runs the code's own reducers where the interpreter only shows a state. */
export function reducerOf(code: GraphCode): ReduceNow {
  return (path, need) => {
    const reducer = codeAt(code, path).parts.reducers[need.reducer] as unknown as (a: Json, b: Json) => Json;
    const [first, ...others] = need.updates;
    return need.current === undefined
      ? others.reduce(reducer, first!)
      : need.updates.reduce(reducer, need.current);
  };
}

/** One call: drives the run from what a verb made of it to where it rests. */
export class Call {
  readonly #setup: CallSetup;
  readonly #program: Program;
  readonly #chunks: Chunks;
  readonly #output: ReadonlySet<string>;
  #shown: { readonly head: Pick<Head, "values"> } | undefined;
  #checkpoint: Checkpoint | undefined;
  #drainReason: string | undefined;

  constructor(setup: CallSetup) {
    this.#setup = setup;
    this.#program = compile(setup.code.graph.manifest, { inlineDurable: true });
    const { root } = this.#program;
    this.#output = root.output;
    const settings: ChunkSettings = {
      program: this.#program,
      modes: setup.modes,
      subgraphs: setup.subgraphs,
      rootKeys: setup.showsAllKeys ? new Set(root.channels.keys()) : root.output,
      prefix: setup.prefix,
      keepsCheckpoints: setup.keepsCheckpoints,
      push: (chunk) => setup.push(chunk),
    };
    this.#chunks = new Chunks(settings);
  }

  async run(first: Applying): Promise<CallEnd> {
    const { code, cache, maxConcurrency, signal } = this.#setup;
    this.#checkpoint = first.checkpoint;
    const drive = new Drive(
      {
        program: this.#program,
        code,
        environment: this.#environment(),
        cache,
        maxConcurrency,
        signal,
        hooks: {
          custom: (task, chunk) => this.#emit("custom", task, chunk),
          message: (task, chunk) => this.#emit("messages", task, chunk),
          runNested: (task, request, taskSignal) => this.#runNested(task, request, taskSignal),
          event: (event) => {
            if (event.namespace === "") this.#follow(event);
            this.#chunks.event(event, this.#checkpoint!);
          },
          ended: (task, attempt, cached) => this.#chunks.ended(task, attempt, cached, this.#checkpoint!),
          keep: (checkpoint) => {
            this.#checkpoint = checkpoint;
            return this.#setup.keep(checkpoint);
          },
          drainReason: () => this.#drainReason ?? this.#setup.drainReason(),
        },
      },
      first.checkpoint,
    );
    const checkpoint = await drive.run(first);
    this.#rest(checkpoint);
    if (signal?.aborted && checkpoint.status === "running") throw signal.reason;
    const thrown = checkpoint.status === "failed" ? this.#failure(checkpoint, drive.thrown) : undefined;
    return { checkpoint, output: this.#lastOutput(), thrown };
  }

  #environment(): CallEnvironment {
    const { threadId, context, store, now } = this.#setup;
    return { threadId, context, store, now, drain: (reason) => (this.#drainReason = reason) };
  }

  #emit(mode: StreamMode, task: Task, data: Json): void {
    const { modes, prefix, subgraphs, push } = this.#setup;
    if (!modes.has(mode)) return;
    const namespace = task.namespace === "" ? prefix : [...prefix, ...task.namespace.split("|")];
    // What a node writes for the reader is for every reader, however deep the node is.
    if (namespace.length === 0 || subgraphs || mode === "custom") push({ mode, namespace, data });
  }

  /** Keeps in mind which state the output was last shown from. */
  #follow(event: Parameters<Chunks["event"]>[0]): void {
    if (event.type === "resumed") this.#shown = event;
    else if (event.type === "checkpoint" && event.written.some((key) => this.#output.has(key)))
      this.#shown = event;
  }

  #lastOutput(): JsonObject | undefined {
    const { root } = this.#program;
    return this.#shown === undefined ? undefined : view(root, this.#shown.head.values, root.output);
  }

  #rest(checkpoint: Checkpoint): void {
    const { status } = checkpoint;
    if (status !== "interrupted" && status !== "breakpoint") return;
    const reduce = reducerOf(this.#setup.code);
    this.#chunks.resting(checkpoint, questionsOf(this.#program, checkpoint), reduce);
    const { values, written } = finishedValues(this.#program.root, checkpoint.frames[""]!, "output", reduce);
    if (written.some((key) => this.#output.has(key))) this.#shown = { head: { values } };
  }

  #failure(checkpoint: Checkpoint, thrown: ReadonlyMap<ErrorData, unknown>): unknown {
    const edited = Object.values(checkpoint.frames).find(({ update, error }) => update && error);
    return errorOf(edited?.error ?? failureOf(this.#program.root, checkpoint.frames[""]!)!, thrown);
  }

  /** Runs a graph inside a task, in this same process and under the task's record. */
  async #runNested(task: Task, request: NestedRequest, signal: AbortSignal): Promise<NestedOutcome> {
    const { code, previous } = request;
    const program = compile(code.graph.manifest, { inlineDurable: true });
    if (previous?.status === "done") return nestedDone(program, previous, undefined);
    const first = nestedStart(program, this.#checkpoint!, request);
    if (first === undefined) return nestedAsked(program, previous!);
    const inner = new Call({
      ...this.#setup,
      code,
      signal,
      prefix: [
        ...this.#setup.prefix,
        ...(task.namespace === "" ? [] : task.namespace.split("|")),
        `${task.node}:${task.id}`,
      ],
      showsAllKeys: false,
      keep: () => undefined,
      drainReason: () => this.#drainReason ?? this.#setup.drainReason(),
    });
    const end = await inner.run(first);
    const { checkpoint } = end;
    switch (checkpoint.status) {
      case "done":
        return nestedDone(program, checkpoint, end.output ?? null);
      case "interrupted":
        return nestedAsked(program, checkpoint);
      case "failed":
        return { status: "failed", checkpoint, thrown: end.thrown };
      case "outOfSteps":
        return { status: "failed", checkpoint, thrown: recursionError(checkpoint) };
      default:
        return {
          status: "failed",
          checkpoint,
          thrown: new GraphError(
            "GraphValueError",
            `graph "${code.graph.name}" inside node "${task.node}" came to rest (${checkpoint.status}), which only a run of its own can`,
          ),
        };
    }
  }
}

/** The error of a run that used up its steps. */
export function recursionError(checkpoint: Checkpoint): GraphError {
  return new GraphError(
    "GraphRecursionError",
    `recursion limit of ${checkpoint.recursionLimit} reached without coming to an end; a higher recursionLimit allows more steps`,
    "GRAPH_RECURSION_LIMIT",
  );
}

/** What the task threw; for a failure of an earlier call, an error made from what the run keeps of it. */
function errorOf(data: ErrorData, thrown: ReadonlyMap<ErrorData, unknown>): unknown {
  if (thrown.has(data)) return thrown.get(data);
  if (data.errors !== undefined)
    return new AggregateError(
      data.errors.map((error) => errorOf(error, thrown)),
      data.message,
    );
  const error = Object.assign(new Error(data.message), data.code === undefined ? {} : { code: data.code });
  error.name = data.name;
  return error;
}

function nestedDone(program: Program, checkpoint: Checkpoint, output: Json | undefined): NestedOutcome {
  const { head, command } = checkpoint.frames[""]!;
  if (command !== undefined) return { status: "command", checkpoint, command };
  return {
    status: "done",
    checkpoint,
    output: output ?? view(program.root, head.values, program.root.output),
  };
}

function nestedAsked(program: Program, checkpoint: Checkpoint): NestedOutcome {
  const asked = questionsOf(program, checkpoint).map(({ id, value, schema, deadlineMs }) => ({
    id,
    value,
    ...(schema !== undefined && { schema }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  }));
  return { status: "asked", checkpoint, asked };
}

/** What begins or goes on with a run inside a task; undefined when all its questions are still open. */
function nestedStart(program: Program, outer: Checkpoint, request: NestedRequest): Applying | undefined {
  const { previous, input, requestId, answers } = request;
  if (previous === undefined)
    return start(program, undefined, input, {
      run: outer.run,
      requestId,
      nested: true,
      resumable: outer.resumable,
    });
  if (previous.status !== "interrupted") return proceed(program, previous, { requestId });
  const open = new Set(questionsOf(program, previous).map((question) => question.id));
  const given = Object.entries(answers).filter(([id]) => open.has(id));
  const expired = given.find(([, answer]) => "expired" in answer);
  if (expired !== undefined) return expireQuestion(program, previous, expired[0]);
  const values = given.flatMap(([id, answer]) => ("value" in answer ? [[id, answer.value] as const] : []));
  return values.length === 0
    ? undefined
    : resume(program, previous, { answers: Object.fromEntries(values) }, { requestId });
}
