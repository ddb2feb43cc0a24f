import type { CaseEngine, ErrorView, HistoryView, Place, Session, StateView } from "../engine.js";
import type { CaseForm, RunForm } from "../form.js";
import { CallRecorder, type FunctionLibrary } from "../functions.js";
import {
  LangGraphBuilder,
  loadLangGraph,
  type CompiledGraph,
  type Environment,
  type LangGraph,
  type Snapshot,
} from "./langgraph-build.js";

/** Runs cases on LangGraph.js, with its own memory saver: the engine that expectations are measured on. */
export const langGraphEngine: CaseEngine = {
  name: "langgraph",
  async open(subject: CaseForm, functions: FunctionLibrary): Promise<Session> {
    const library = await loadLangGraph();
    const { BaseLangGraphError, isGraphBubbleUp, MemorySaver, InMemoryStore } = library.graph;
    const environment: Environment = {
      subject,
      functions,
      recorder: new CallRecorder(
        (error) => !isGraphBubbleUp(error) && !(error instanceof BaseLangGraphError),
      ),
      saver: subject.checkpointer === false ? undefined : new MemorySaver(),
      store: new InMemoryStore(),
      cache: subject.cache === true ? new library.checkpoint.InMemoryCache() : undefined,
    };
    const builder = new LangGraphBuilder(library, environment);
    return new LangGraphSession(library, environment, builder, builder.root());
  },
  describe(error: Error): ErrorView {
    const { name, message } = error;
    const { lc_error_code: code } = error as { lc_error_code?: string };
    const parts =
      error instanceof AggregateError ? error.errors.map((part: unknown) => messageOf(part)) : undefined;
    return {
      name,
      message,
      ...(code !== undefined && { code }),
      ...(parts !== undefined && { errors: parts }),
    };
  },
};

class LangGraphSession implements Session {
  readonly recorder: CallRecorder;

  constructor(
    private readonly library: LangGraph,
    private readonly environment: Environment,
    private readonly builder: LangGraphBuilder,
    private readonly graph: CompiledGraph,
  ) {
    this.recorder = environment.recorder;
  }

  async run(op: RunForm, place: Place): Promise<unknown> {
    const config = this.runConfig(op, place);
    return plainValue(await this.graph.invoke(await this.input(op, place), config));
  }

  async stream(op: RunForm, place: Place): Promise<unknown[]> {
    const config = {
      ...this.runConfig(op, place),
      streamMode: op.stream,
      ...(op.subgraphs === true && { subgraphs: true }),
    };
    const chunks: unknown[] = [];
    for await (const chunk of await this.graph.stream(await this.input(op, place), config)) {
      chunks.push(plainChunk(chunk, op));
    }
    return chunks;
  }

  async state(place: Place, subgraphs: boolean): Promise<StateView> {
    const snapshot = await this.graph.getState(config(place), subgraphs ? { subgraphs: true } : undefined);
    const view: StateView = {
      values: plainValue(snapshot.values),
      next: [...snapshot.next],
      step: snapshot.metadata?.step ?? null,
      source: snapshot.metadata?.source ?? null,
      tasks: snapshot.tasks.map((task) => ({
        name: task.name,
        ...(task.interrupts?.length && { interrupts: task.interrupts.map(({ value }) => plainValue(value)) }),
        ...(task.error !== undefined && { error: messageOf(task.error) }),
      })),
    };
    if (subgraphs) {
      view.sub = snapshot.tasks.flatMap(({ name, state }) =>
        state?.values ? [{ name, values: plainValue(state.values), next: [...state.next] }] : [],
      );
    }
    return view;
  }

  async history(thread: string): Promise<HistoryView[]> {
    const views: HistoryView[] = [];
    for await (const { config, metadata, next, values } of this.graph.getStateHistory(threadConfig(thread))) {
      views.push({
        checkpoint: config.configurable["checkpoint_id"] as string,
        step: metadata?.step ?? 0,
        source: metadata?.source ?? "",
        next: [...next],
        values: plainValue(values),
      });
    }
    return views;
  }

  async update(place: Place, values: unknown, asNode: string | undefined): Promise<string> {
    const written = await this.graph.updateState(
      config(place),
      this.builder.value(values),
      asNode === undefined ? undefined : this.builder.name(asNode),
    );
    return written.configurable["checkpoint_id"] as string;
  }

  async updateSubgraph(
    place: Place,
    node: string,
    values: unknown,
    asNode: string | undefined,
  ): Promise<void> {
    const snapshot = await this.graph.getState(config(place), { subgraphs: true });
    const state = snapshot.tasks.find((task) => task.name === node)?.state;
    if (state === undefined) throw new Error(`no waiting subgraph "${node}"`);
    await this.graph.updateState(state.config, this.builder.value(values), asNode);
  }

  async bulkUpdate(
    place: Place,
    supersteps: readonly { values: unknown; asNode: string }[][],
  ): Promise<void> {
    const converted = supersteps.map((updates) => ({
      updates: updates.map(({ values, asNode }) => ({
        values: this.builder.value(values),
        asNode: this.builder.name(asNode),
      })),
    }));
    await this.graph.bulkUpdateState(config(place), converted);
  }

  private runConfig(op: RunForm, place: Place): object {
    if (op.drain === true) this.environment.control = new this.library.graph.RunControl();
    const { recursionLimit, context, durability, maxConcurrency, interruptBefore, interruptAfter } = op;
    return {
      ...config(place),
      ...(recursionLimit !== undefined && { recursionLimit }),
      ...(context && { context }),
      ...(durability && { durability }),
      ...(maxConcurrency !== undefined && { maxConcurrency }),
      ...(op.drain === true && { control: this.environment.control }),
      ...(interruptBefore && { interruptBefore }),
      ...(interruptAfter && { interruptAfter }),
    };
  }

  private async input(op: RunForm, place: Place): Promise<unknown> {
    if (op.op === "continue") return null;
    if (op.op === "invoke") return this.builder.value(op.input);
    const { Command } = this.library.graph;
    if (op.byQuestion !== undefined) {
      const ids = await this.questionIds(place.thread);
      const answers = Object.entries(op.byQuestion).map(([question, answer]) => [ids.get(question), answer]);
      return new Command({ resume: Object.fromEntries(answers) as Record<string, unknown> });
    }
    return new Command({
      resume: op.value,
      ...(op.update !== undefined && { update: this.builder.value(op.update) as Record<string, unknown> }),
      ...(op.goto !== undefined && { goto: op.goto as string }),
    });
  }

  /** Ids of the thread's open questions by their text, those of subgraphs included. */
  private async questionIds(thread: string): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    const collect = (tasks: Snapshot["tasks"]): void => {
      for (const task of tasks) {
        for (const { id, value } of task.interrupts ?? []) {
          ids.set(typeof value === "string" ? value : JSON.stringify(value), id);
        }
        if (task.state?.tasks !== undefined) collect(task.state.tasks);
      }
    };
    const snapshot = await this.graph.getState(threadConfig(thread), { subgraphs: true });
    collect(snapshot.tasks);
    return ids;
  }
}

const threadConfig = (thread: string) => ({ configurable: { thread_id: thread } });

const config = (place: Place) => ({
  configurable: {
    thread_id: place.thread,
    ...(place.checkpoint !== undefined && { checkpoint_id: place.checkpoint, checkpoint_ns: "" }),
  },
});

const messageOf = (error: unknown): string => (error as { message?: string }).message ?? String(error);

/** Plain data out of whatever the engine gave: messages by role, id and content; questions by their values. */
export function plainValue(value: unknown): unknown {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(plainValue);
  if (value === null || typeof value !== "object") return value;
  const message = value as { getType?: () => string; id?: unknown; content?: unknown };
  if (typeof message.getType === "function") {
    return { role: message.getType(), id: message.id, content: message.content };
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      key === "__interrupt__"
        ? ["$interrupts", (item as { value: unknown }[]).map((question) => plainValue(question.value))]
        : [key, plainValue(item)],
    ),
  );
}

interface TaskChunk {
  name: string;
  triggers?: string[];
  error?: unknown;
  interrupts?: { value: unknown }[];
}

/** A stream's chunk without what differs from run to run: ids, times, and the task ids in namespaces. */
function plainChunk(chunk: unknown, op: RunForm): unknown {
  if (op.subgraphs === true) {
    const [namespace, ...rest] = chunk as [string[], ...unknown[]];
    const path = namespace.map((part) => part.split(":")[0]).join("/");
    return plainValue([
      path,
      ...(typeof op.stream === "string" ? rest.map((one) => byMode(one, op.stream)) : rest),
    ]);
  }
  return plainValue(byMode(chunk, op.stream));
}

function byMode(chunk: unknown, mode: string | string[] | undefined): unknown {
  switch (mode) {
    case "tasks": {
      const task = chunk as TaskChunk;
      return "result" in task
        ? {
            done: task.name,
            error: task.error ?? null,
            interrupts: task.interrupts?.map(({ value }) => value),
          }
        : { start: task.name, triggers: task.triggers };
    }
    case "checkpoints": {
      const { metadata, next } = chunk as { metadata: { step: number; source: string }; next: string[] };
      return { step: metadata.step, source: metadata.source, next };
    }
    case "debug": {
      const { type, step } = chunk as { type: string; step: number };
      return { type, step };
    }
    default:
      return chunk;
  }
}
