import { builtInNamed } from "../built-in-reducers.js";
import type { BranchForm, CaseForm, ChannelForm, GraphForm, NodeForm } from "../form.js";
import {
  CaseFileError,
  pause,
  type CallRecorder,
  type FunctionContext,
  type FunctionLibrary,
} from "../functions.js";
import { functionNamed } from "../load.js";

/**
 * The reference engine is loaded when it is asked for: the package doesn't depend on it, so whoever only runs the own
 * engine needn't install it.
 */
export async function loadLangGraph() {
  try {
    const [graph, channels, checkpoint, messages, runnables] = await Promise.all([
      import("@langchain/langgraph"),
      import("@langchain/langgraph/channels"),
      import("@langchain/langgraph-checkpoint"),
      import("@langchain/core/messages"),
      import("@langchain/core/runnables"),
    ]);
    return { graph, channels, checkpoint, messages, runnables };
  } catch (error) {
    throw new CaseFileError(
      `the engine "langgraph" needs @langchain/langgraph and @langchain/core installed: ${(error as Error).message}`,
    );
  }
}

export type LangGraph = Awaited<ReturnType<typeof loadLangGraph>>;

export interface Snapshot {
  values: unknown;
  next: string[];
  config: { configurable: Record<string, unknown> };
  metadata?: { step?: number; source?: string };
  tasks: {
    id: string;
    name: string;
    error?: unknown;
    interrupts?: { id: string; value: unknown }[];
    state?: Snapshot;
  }[];
}

/** The calls on a compiled graph that cases make. Its own types can't follow a graph that is only known at run time. */
export interface CompiledGraph {
  invoke(input: unknown, config: object): Promise<unknown>;
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: object): Promise<Snapshot>;
  getStateHistory(config: object): AsyncIterable<Snapshot>;
  updateState(
    config: object,
    values: unknown,
    asNode?: string,
  ): Promise<{ configurable: Record<string, unknown> }>;
  bulkUpdateState(config: object, supersteps: object[]): Promise<unknown>;
}

interface GraphBuilder {
  addNode(name: string, action: unknown, options?: object): void;
  addEdge(from: string | string[], to: string): void;
  addConditionalEdges(from: string, router: unknown, targets?: unknown): void;
  compile(options: object): CompiledGraph;
}

interface NodeConfig {
  executionInfo?: { nodeAttempt?: number };
  context?: Record<string, unknown>;
  writer?: (chunk: unknown) => void;
  store?: {
    get(namespace: string[], key: string): Promise<{ value: unknown } | null>;
    put(namespace: string[], key: string, value: unknown): Promise<void>;
  };
}

/** What a case's graphs share: memory, store, cache, counts, and the control of the call that is running. */
export interface Environment {
  readonly subject: CaseForm;
  readonly functions: FunctionLibrary;
  readonly recorder: CallRecorder;
  readonly saver: object | undefined;
  readonly store: object;
  readonly cache: object | undefined;
  control?: { requestDrain(reason: string): void };
}

/** Builds one case's graph, and its subgraphs, as LangGraph.js graphs. */
export class LangGraphBuilder {
  constructor(
    private readonly library: LangGraph,
    private readonly environment: Environment,
  ) {}

  root(): CompiledGraph {
    const { saver, store, cache } = this.environment;
    return this.build(this.environment.subject.graph, "", {
      ...(saver !== undefined && { checkpointer: saver }),
      store,
      ...(cache !== undefined && { cache }),
    });
  }

  /** Maps `START` and `END` of the case form to the reference engine's names. */
  name(name: string): string {
    const { START, END } = this.library.graph;
    return name === "START" ? START : name === "END" ? END : name;
  }

  destination(value: unknown): unknown {
    return typeof value === "string" ? this.name(value) : this.value(value);
  }

  /** Turns the tokens of the case form into the reference engine's objects, at any depth. */
  value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (value === null || typeof value !== "object") return value;
    const { Command, Send, Overwrite } = this.library.graph;
    const token = value as Record<string, unknown>;
    if (isRecord(token["$command"])) return new Command(this.commandParameters(token["$command"]) as never);
    if (isRecord(token["$send"])) return new Send(token["$send"]["node"] as string, token["$send"]["arg"]);
    if (token["$removeMessage"]) {
      return new this.library.messages.RemoveMessage({ id: token["$removeMessage"] as string });
    }
    if ("$overwrite" in token) return new Overwrite(token["$overwrite"]);
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(token).map(([key, item]) => [key, this.value(item)]));
  }

  private commandParameters(command: Record<string, unknown>): object {
    const { update, resume, goto, graph } = command;
    return {
      ...(update !== undefined && { update: this.value(update) }),
      ...(resume !== undefined && { resume }),
      ...(goto !== undefined && {
        goto: Array.isArray(goto) ? goto.map((one) => this.destination(one)) : this.destination(goto),
      }),
      ...(graph === "PARENT" && { graph: this.library.graph.Command.PARENT }),
    };
  }

  private build(form: GraphForm, prefix: string, compileOptions: object): CompiledGraph {
    const { Annotation, StateGraph } = this.library.graph;
    const spec = Object.fromEntries(
      Object.entries(form.channels).map(([key, one]) => [key, this.channel(key, one)]),
    );
    const full = Annotation.Root(spec as never);
    const some = (keys: string[]) =>
      Annotation.Root(
        Object.fromEntries(keys.map((key) => [key, (full.spec as Record<string, unknown>)[key]])) as never,
      );
    const graph = new StateGraph({
      state: full,
      ...(form.input && { input: some(form.input) }),
      ...(form.output && { output: some(form.output) }),
    } as never) as unknown as GraphBuilder;
    for (const [name, node] of Object.entries(form.nodes)) this.addNode(graph, name, node, prefix, some);
    for (const [from, to] of form.edges ?? []) {
      graph.addEdge(Array.isArray(from) ? from : this.name(from), this.name(to));
    }
    for (const branch of form.branches ?? []) this.addBranch(graph, branch);
    const { interruptBefore, interruptAfter } = form;
    return graph.compile({
      ...compileOptions,
      ...(interruptBefore && { interruptBefore }),
      ...(interruptAfter && { interruptAfter }),
    });
  }

  private subgraph(form: GraphForm, prefix: string): CompiledGraph {
    return this.build(
      form,
      prefix,
      form.checkpointer === undefined ? {} : { checkpointer: form.checkpointer },
    );
  }

  private channel(key: string, form: ChannelForm): unknown {
    const { Annotation, UntrackedValueChannel, messagesStateReducer } = this.library.graph;
    const { Topic, EphemeralValue, AnyValue } = this.library.channels;
    const fallback = "default" in form ? { default: () => structuredClone(form.default) } : {};
    switch (form.type ?? "last") {
      case "last":
        // The reference engine gives a default only to a channel with a reducer.
        return form.default === undefined
          ? Annotation()
          : Annotation({ reducer: (_current: unknown, update: unknown) => update, ...fallback } as never);
      case "reduce": {
        const reducer = functionNamed(
          this.environment.functions,
          "reducers",
          form.reducer,
          `channel "${key}"`,
        );
        return Annotation({ reducer, ...fallback } as never);
      }
      case "builtIn": {
        const { value, reduce } = builtInNamed(form.reducer, `channel "${key}"`);
        const own = value === undefined ? {} : { default: () => structuredClone(value) };
        return Annotation({ reducer: reduce(form.limit), ...own, ...fallback } as never);
      }
      case "topic":
        return () => new Topic({ unique: form.unique === true, accumulate: form.accumulate === true });
      case "ephemeral":
        return () => new EphemeralValue(form.guard ?? true);
      case "any":
        return () => new AnyValue();
      case "untracked":
        return () => new UntrackedValueChannel({ guard: form.guard ?? true });
      case "messages":
        return Annotation({ reducer: messagesStateReducer, default: () => [] } as never);
    }
  }

  private addNode(
    graph: GraphBuilder,
    name: string,
    node: NodeForm,
    prefix: string,
    some: (keys: string[]) => unknown,
  ): void {
    const ends = node.ends && { ends: node.ends.map((end) => this.name(end)) };
    if (node.graph !== undefined) {
      graph.addNode(name, this.subgraph(node.graph, `${prefix}${name}/`), ends);
      return;
    }
    const { retryOnName, ...retry } = node.retry ?? {};
    graph.addNode(name, this.action(name, node, prefix), {
      ...ends,
      ...(node.retry && {
        retryPolicy: {
          initialInterval: 1,
          jitter: false,
          logWarning: false,
          ...retry,
          ...(retryOnName && { retryOn: (error: Error) => error.name === retryOnName }),
        },
      }),
      ...(node.defer === true && { defer: true }),
      ...(node.cache && { cachePolicy: node.cache }),
      ...(node.timeout !== undefined && { timeout: node.timeout }),
      ...(node.input && { input: some(node.input) }),
      ...(node.onError && { errorHandler: this.handler(node.onError, `node "${prefix}${name}"`) }),
    });
  }

  private action(name: string, node: NodeForm, prefix: string) {
    const { functions, recorder } = this.environment;
    const id = `${prefix}${name}`;
    const run = functionNamed(functions, "nodeFns", node.fn, `node "${id}"`)(node.args ?? {});
    return async (state: unknown, config: NodeConfig) =>
      this.value(await recorder.call(id, () => run(state, this.context(id, node, config))));
  }

  private context(id: string, node: NodeForm, config: NodeConfig): FunctionContext {
    const { recorder } = this.environment;
    const called = node.args?.["graph"] as GraphForm | undefined;
    return {
      interrupt: this.library.graph.interrupt,
      write: (chunk) => config.writer?.(chunk),
      sleep: pause,
      attempt: config.executionInfo?.nodeAttempt ?? 1,
      context: config.context,
      count: () => recorder.count(id),
      drain: () => this.environment.control?.requestDrain("stop"),
      store: {
        get: async (namespace, key) => (await config.store?.get(namespace, key))?.value,
        put: async (namespace, key, value) => config.store?.put(namespace, key, value),
      },
      ...(called && { runGraph: (input: unknown) => this.subgraph(called, `${id}/`).invoke(input, {}) }),
    };
  }

  private handler(form: NonNullable<NodeForm["onError"]>, place: string) {
    const { functions, recorder } = this.environment;
    const handle = functionNamed(functions, "nodeFns", form.fn, place)(form.args ?? {});
    return async (state: unknown, failure: { node: string; error: Error }) => {
      const error = { node: failure.node, message: failure.error.message };
      return this.value(await recorder.watch(() => handle(state, { error } as never)));
    };
  }

  /** A node can't have two routers of one name, and a plain function has none. */
  private named(router: (state: unknown) => Promise<unknown>, name: string): unknown {
    return Object.assign(this.library.runnables.RunnableLambda.from(router), { name });
  }

  private addBranch(graph: GraphBuilder, branch: BranchForm): void {
    const { functions, recorder } = this.environment;
    const place = `branch from "${branch.from}"`;
    const route = functionNamed(functions, "routeFns", branch.fn, place)(branch.args ?? {});
    const { interrupt } = this.library.graph;
    const router = async (state: unknown) => {
      const chosen = await recorder.watch(() => route(state, { interrupt }));
      return Array.isArray(chosen) ? chosen.map((one) => this.destination(one)) : this.destination(chosen);
    };
    const { targets } = branch;
    graph.addConditionalEdges(
      this.name(branch.from),
      branch.name === undefined ? router : this.named(router, branch.name),
      Array.isArray(targets)
        ? targets.map((target) => this.name(target))
        : targets && Object.fromEntries(Object.entries(targets).map(([label, to]) => [label, this.name(to)])),
    );
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
