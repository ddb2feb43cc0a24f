import { GraphError } from "../../core/errors.js";
import type { Json, JsonObject } from "../../core/json.js";
import { createRunner } from "../../local/runner.js";
import type {
  CallOptions,
  Request,
  Runner,
  RunResult,
  StreamChunk,
  StreamMode,
  StreamOptions,
} from "../../local/types.js";
import type { Snapshot, TaskView } from "../../core/view.js";
import type { GraphTypes } from "../../core/types.js";
import type { CaseEngine, ErrorView, HistoryView, Place, Session, StateView } from "../engine.js";
import type { CaseForm, RunForm } from "../form.js";
import { CallRecorder, type FunctionLibrary } from "../functions.js";
import { coreName, coreValue, CoreBuilder, type CaseEnvironment } from "./core-build.js";

/** Runs cases on our own engine, in this process, with its memory checkpointer. */
export const coreEngine: CaseEngine = {
  name: "core",
  async open(subject: CaseForm, functions: FunctionLibrary): Promise<Session> {
    const recorder = new CallRecorder((error) => !(error instanceof GraphError));
    const environment: CaseEnvironment = { subject, functions, recorder, mayDrain: false };
    const code = new CoreBuilder(environment).root();
    const runner = createRunner(code, subject.checkpointer === false ? { checkpointer: false } : {});
    return new CoreSession(environment, runner as unknown as Runner);
  },
  describe: describeError,
};

/** Error names that both engines have, with the same meaning. */
const sharedNames = new Set([
  "AggregateError",
  "EmptyInputError",
  "GraphDrained",
  "GraphRecursionError",
  "GraphValueError",
  "InvalidUpdateError",
  "NodeTimeoutError",
  "TypeError",
  "UnknownInterruptError",
  "UnreachableNodeError",
]);

/** Codes that the reference engine has too; it leaves most errors without one. */
const sharedCodes = new Set([
  "GRAPH_RECURSION_LIMIT",
  "INVALID_CONCURRENT_GRAPH_UPDATE",
  "INVALID_GRAPH_NODE_RETURN_VALUE",
  "MISSING_CHECKPOINTER",
  "UNREACHABLE_NODE",
]);

/**
 * Where the core has a name for what the reference engine only calls `Error`, the outcome says `Error` too and keeps
 * the name in the message: otherwise each such error would look like a difference.
 */
function describeError(error: Error): ErrorView {
  const { name, message } = error;
  const code = (error as { code?: unknown }).code;
  const parts = (error as { errors?: unknown }).errors;
  const view = {
    ...(typeof code === "string" && sharedCodes.has(code) && { code }),
    ...(Array.isArray(parts) && { errors: parts.map((part: { message: string }) => part.message) }),
  };
  if (!(error instanceof GraphError) || sharedNames.has(name)) return { name, message, ...view };
  return { name: "Error", message: `${name}: ${message}`, ...view };
}

class CoreSession implements Session {
  readonly recorder: CallRecorder;

  constructor(
    private readonly environment: CaseEnvironment,
    private readonly runner: Runner,
  ) {
    this.recorder = environment.recorder;
  }

  async run(op: RunForm, place: Place): Promise<unknown> {
    const result = await this.runner.request(await this.request(op, place), this.callOptions(op, place));
    return plainResult(result);
  }

  async stream(op: RunForm, place: Place): Promise<unknown[]> {
    const request = await this.request(op, place);
    const options: StreamOptions = {
      ...this.callOptions(op, place),
      modes: op.stream as StreamMode | StreamMode[],
      ...(op.subgraphs === true && { subgraphs: true }),
    };
    const chunks: unknown[] = [];
    for await (const chunk of this.runner.stream(request, options)) chunks.push(plainChunk(chunk, op));
    return chunks;
  }

  async state(place: Place, subgraphs: boolean): Promise<StateView> {
    const snapshot = await this.runner.state({ ...corePlace(place), subgraphs });
    const view: StateView = {
      values: plainValue(snapshot.values),
      next: [...snapshot.next],
      step: snapshot.step,
      source: snapshot.source,
      tasks: snapshot.tasks.map((task) => ({
        name: task.name,
        ...(task.interrupts.length > 0 && {
          interrupts: task.interrupts.map(({ value }) => plainValue(value)),
        }),
        ...(task.error !== undefined && { error: task.error.message }),
      })),
    };
    if (subgraphs) {
      view.sub = snapshot.tasks.flatMap(({ name, state }) =>
        state === undefined ? [] : [{ name, values: plainValue(state.values), next: [...state.next] }],
      );
    }
    return view;
  }

  async history(thread: string): Promise<HistoryView[]> {
    const snapshots = await this.runner.history({ thread });
    return snapshots.map(({ checkpointId, step, source, next, values }) => ({
      checkpoint: checkpointId ?? "",
      step: step ?? 0,
      source: source ?? "",
      next: [...next],
      values: plainValue(values),
    }));
  }

  async update(place: Place, values: unknown, asNode: string | undefined): Promise<string> {
    const { checkpointId } = await this.runner.update(coreValue(values) as Json, {
      ...corePlace(place),
      ...(asNode !== undefined && { asNode: coreName(asNode) }),
    });
    return checkpointId;
  }

  async updateSubgraph(
    place: Place,
    node: string,
    values: unknown,
    asNode: string | undefined,
  ): Promise<void> {
    const snapshot = await this.runner.state({ ...corePlace(place), subgraphs: true });
    const state = snapshot.tasks.find((task) => task.name === node)?.state;
    if (state === undefined) throw new Error(`no waiting subgraph "${node}"`);
    await this.runner.update(coreValue(values) as Json, {
      ...corePlace(place),
      namespace: state.namespace,
      ...(asNode !== undefined && { asNode: coreName(asNode) }),
    });
  }

  async bulkUpdate(
    place: Place,
    supersteps: readonly { values: unknown; asNode: string }[][],
  ): Promise<void> {
    const converted = supersteps.map((updates) =>
      updates.map(({ values, asNode }) => ({ values: coreValue(values) as Json, asNode: coreName(asNode) })),
    );
    await this.runner.bulkUpdate(converted, corePlace(place));
  }

  /** `durability` has no meaning here: every step is kept before the next one begins. */
  private callOptions(op: RunForm, place: Place): CallOptions {
    this.environment.mayDrain = op.drain === true;
    const { recursionLimit, context, maxConcurrency, interruptBefore, interruptAfter } = op;
    return {
      ...corePlace(place),
      ...(recursionLimit !== undefined && { recursionLimit }),
      ...(context && { context }),
      ...(maxConcurrency !== undefined && { maxConcurrency }),
      ...(interruptBefore && { interruptBefore }),
      ...(interruptAfter && { interruptAfter }),
    };
  }

  private async request(op: RunForm, place: Place): Promise<Request<GraphTypes>> {
    if (op.op === "continue") return { continue: true };
    if (op.op === "invoke") return inputRequest(coreValue(op.input ?? null) as Json);
    const command = coreValue({ $command: { update: op.update, goto: op.goto } }) as {
      $command: { update?: Json; goto?: Json };
    };
    const { update, goto } = command.$command;
    const outside = { ...(update !== undefined && { update }), ...(goto !== undefined && { goto }) };
    if (op.byQuestion === undefined) return { value: (op.value ?? null) as Json, ...outside };
    return { answers: await this.answersById(op.byQuestion, place), ...outside };
  }

  private async answersById(byQuestion: Record<string, unknown>, place: Place): Promise<JsonObject> {
    const ids = new Map<string, string>();
    const collect = (tasks: readonly TaskView[]): void => {
      for (const task of tasks) {
        for (const { id, value } of task.interrupts) {
          ids.set(typeof value === "string" ? value : JSON.stringify(value), id);
        }
        if (task.state !== undefined) collect(task.state.tasks);
      }
    };
    const snapshot: Snapshot = await this.runner.state({ thread: place.thread, subgraphs: true });
    collect(snapshot.tasks);
    return Object.fromEntries(
      Object.entries(byQuestion).map(([question, answer]) => [ids.get(question) ?? question, answer as Json]),
    );
  }
}

/** An input, or the command that a case gives in its place. */
function inputRequest(input: Json): Request<GraphTypes> {
  const command = (input as { $command?: { update?: Json; goto?: Json; resume?: Json } } | null)?.$command;
  if (command === undefined) return { input: input as never };
  const { resume, ...outside } = command;
  if (resume === undefined) return { command: outside };
  return { value: resume, ...outside };
}

const corePlace = (place: Place) => ({
  thread: place.thread,
  ...(place.checkpoint !== undefined && { checkpointId: place.checkpoint }),
});

/** Questions are listed as the reference engine does; a static breakpoint is a stop without one. */
function plainResult(result: RunResult<GraphTypes>): unknown {
  const { status, values, questions } = result;
  const stopped = status === "interrupted" || status === "breakpoint";
  if (values === null && !stopped) return null;
  return {
    ...(plainValue(values ?? {}) as object),
    ...(stopped && { $interrupts: questions.map(({ value }) => plainValue(value)) }),
  };
}

const referenceRoles: Readonly<Record<string, string>> = { user: "human", assistant: "ai" };

/** The core keeps the role that a message was given; the reference engine has roles of its own. */
export function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  if (value === null || value === undefined) return null;
  if (typeof value !== "object") return value;
  const { role, id, content, ...more } = value as Record<string, unknown>;
  if (
    typeof role === "string" &&
    typeof id === "string" &&
    content !== undefined &&
    Object.keys(more).length === 0
  ) {
    return { role: referenceRoles[role] ?? role, id, content };
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      key === "$interrupts"
        ? [key, (item as { value: unknown }[]).map((question) => plainValue(question.value))]
        : [key, plainValue(item)],
    ),
  );
}

function plainChunk(chunk: StreamChunk, op: RunForm): unknown {
  const { mode, namespace, data } = chunk;
  const content = plainData(mode, data);
  const parts = [
    ...(op.subgraphs === true ? [namespace.map((part) => part.split(":")[0]).join("/")] : []),
    ...(Array.isArray(op.stream) ? [mode] : []),
    content,
  ];
  return parts.length === 1 ? content : parts;
}

/** What the chunk says, without ids and times. */
function plainData(mode: StreamMode, data: Json): unknown {
  const fields = data as JsonObject;
  switch (mode) {
    case "tasks":
      return "triggers" in fields
        ? { start: fields["name"], triggers: fields["triggers"] }
        : {
            done: fields["name"],
            error: fields["error"] ?? null,
            interrupts: ((fields["interrupts"] ?? []) as { value: Json }[]).map(({ value }) =>
              plainValue(value),
            ),
          };
    case "checkpoints":
      return { step: fields["step"], source: fields["source"], next: fields["next"] };
    case "debug":
      return { type: fields["type"], step: fields["step"] };
    default:
      return plainValue(data);
  }
}
