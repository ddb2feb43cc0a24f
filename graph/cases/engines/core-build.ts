import type { CodeFunction, GraphCode, TaskContext } from "../../core/code.js";
import { defineDynamicGraph, type GraphBuilder } from "../../core/define.js";
import { implement } from "../../core/implement.js";
import type { Json } from "../../core/json.js";
import { END, removeMessage, START } from "../../core/markers.js";
import type { NodeOptions } from "../../core/options.js";
import type { Schema } from "../../core/schema.js";
import type { AnyChannel } from "../../core/state.js";
import * as channels from "../../core/state.js";
import type { DynamicTypes } from "../../core/types.js";
import { builtInNamed } from "../built-in-reducers.js";
import type { BranchForm, CaseForm, ChannelForm, GraphForm, NodeForm } from "../form.js";
import { pause, type CallRecorder, type FunctionContext, type FunctionLibrary } from "../functions.js";
import { functionNamed } from "../load.js";

/** What a case's graphs share. */
export interface CaseEnvironment {
  readonly subject: CaseForm;
  readonly functions: FunctionLibrary;
  readonly recorder: CallRecorder;
  /** True while a call runs that lets nodes ask it to stop. */
  mayDrain: boolean;
}

interface CodeInProgress {
  readonly nodes: Record<string, CodeFunction>;
  readonly routes: Record<string, CodeFunction>;
  readonly errorHandlers: Record<string, CodeFunction>;
  readonly reducers: Record<string, CodeFunction>;
  readonly subgraphs: Record<string, GraphCode>;
}

/** Maps `START` and `END` of the case form to the names in the core. */
export const coreName = (name: string): string => (name === "START" ? START : name === "END" ? END : name);

const coreDestination = (value: unknown): unknown =>
  typeof value === "string" ? coreName(value) : coreValue(value);

/** Turns the tokens of the case form into the core's markers, at any depth. Most are the same. */
export function coreValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(coreValue);
  if (value === null || typeof value !== "object") return value;
  const token = value as Record<string, unknown>;
  if (typeof token["$removeMessage"] === "string") return removeMessage(token["$removeMessage"]);
  return Object.fromEntries(
    Object.entries(token).map(([key, item]) => [
      key,
      key === "$command" ? coreCommand(item) : coreValue(item),
    ]),
  );
}

function coreCommand(fields: unknown): unknown {
  const { goto, ...rest } = fields as { goto?: unknown };
  if (goto === undefined) return coreValue(rest);
  const target = Array.isArray(goto) ? goto.map(coreDestination) : coreDestination(goto);
  return { ...(coreValue(rest) as object), goto: target };
}

/** Builds one case's graph, and its subgraphs, as graphs of the core with their code. */
export class CoreBuilder {
  private readonly called = new Map<string, GraphCode>();

  constructor(private readonly environment: CaseEnvironment) {}

  root(): GraphCode {
    const { subject } = this.environment;
    return this.build(subject.graph, "", subject.checkpointer !== false);
  }

  /** `remembers`: nothing may ask in a graph that keeps no checkpoint. */
  private build(form: GraphForm, prefix: string, remembers: boolean): GraphCode {
    const code: CodeInProgress = { nodes: {}, routes: {}, errorHandlers: {}, reducers: {}, subgraphs: {} };
    const { input, output, interruptBefore, interruptAfter } = form;
    const builder = defineDynamicGraph({
      name: prefix === "" ? "case" : `case-${prefix.replaceAll("/", "-").slice(0, -1)}`,
      version: "1",
      state: Object.fromEntries(
        Object.entries(form.channels).map(([key, channel]) => [key, this.channel(key, channel, code)]),
      ),
      ...(input && { input }),
      ...(output && { output }),
      ...(interruptBefore && { interruptBefore }),
      ...(interruptAfter && { interruptAfter }),
      ...(!remembers && prefix === "" && { resumable: false }),
    });
    for (const [name, node] of Object.entries(form.nodes))
      this.addNode(builder, code, name, node, prefix, remembers);
    for (const [from, to] of form.edges ?? []) {
      if (Array.isArray(from)) builder.join(from, coreName(to));
      else builder.edge(coreName(from), coreName(to));
    }
    for (const branch of form.branches ?? []) this.addBranch(builder, code, branch, form);
    return implement(builder.build(), code as never) as unknown as GraphCode;
  }

  private channel(key: string, form: ChannelForm, code: CodeInProgress): AnyChannel {
    const fallback = "default" in form ? { default: form.default as Json } : {};
    const concurrent = form.guard === false;
    switch (form.type ?? "last") {
      case "last":
        // A default makes the reference engine take the last of several writes, so cases with one mean that.
        return channels.last({ ...fallback, concurrent: form.default !== undefined });
      case "reduce": {
        const reduce = functionNamed(
          this.environment.functions,
          "reducers",
          form.reducer,
          `channel "${key}"`,
        );
        code.reducers[form.reducer!] = reduce as CodeFunction;
        return channels.custom(form.reducer!, fallback) as AnyChannel;
      }
      case "builtIn":
        return builtInNamed(form.reducer, `channel "${key}"`).channel(
          form.limit,
          fallback as { default?: never },
        );
      case "topic":
        return channels.topic({ unique: form.unique === true, accumulate: form.accumulate === true });
      case "ephemeral":
        return channels.ephemeral({ concurrent });
      case "any":
        return channels.any();
      case "untracked":
        return channels.untracked({ concurrent });
      case "messages":
        return channels.messages() as AnyChannel;
    }
  }

  private addNode(
    builder: GraphBuilder<DynamicTypes>,
    code: CodeInProgress,
    name: string,
    node: NodeForm,
    prefix: string,
    remembers: boolean,
  ): void {
    const ends = node.ends && { ends: node.ends.map(coreName) };
    if (node.graph !== undefined) {
      const memory =
        node.graph.checkpointer === undefined ? "call" : node.graph.checkpointer ? "thread" : "none";
      const child = this.build(node.graph, `${prefix}${name}/`, remembers && memory !== "none");
      builder.subgraph(name, child.graph, { ...ends, memory });
      code.subgraphs[name] = child;
      return;
    }
    builder.node(name, { ...ends, ...this.policy(node), ...(remembers && { interrupts: true }) });
    code.nodes[name] = this.action(name, node, prefix);
    if (node.onError) code.errorHandlers[name] = this.handler(node.onError, `node "${prefix}${name}"`);
  }

  private policy(node: NodeForm): NodeOptions<string, string, Schema> {
    const { retry, timeout, cache } = node;
    return {
      ...(node.defer === true && { defer: true }),
      ...(node.input && { input: node.input }),
      ...(node.onError && { onError: true }),
      ...(retry && {
        retry: {
          initialInterval: Math.max(retry.initialInterval ?? 1, 1),
          jitter: retry.jitter ?? false,
          ...(retry.maxAttempts !== undefined && { attempts: retry.maxAttempts }),
          ...(retry.backoffFactor !== undefined && { backoffFactor: retry.backoffFactor }),
          ...(retry.maxInterval !== undefined && { maxInterval: retry.maxInterval }),
          ...(retry.retryOnName !== undefined && { retryOn: [retry.retryOnName] }),
        },
      }),
      ...(timeout !== undefined && { timeout: timeoutOf(timeout) }),
      // A cache policy has no effect in the reference engine unless the graph was given a cache.
      ...(cache && this.environment.subject.cache === true && { cache: cacheOf(cache) }),
    };
  }

  private action(name: string, node: NodeForm, prefix: string): CodeFunction {
    const { functions, recorder } = this.environment;
    const id = `${prefix}${name}`;
    const run = functionNamed(functions, "nodeFns", node.fn, `node "${id}"`)(node.args ?? {});
    return async (input: unknown, context: TaskContext) =>
      coreValue(await recorder.call(id, () => run(input, this.context(id, node, context))));
  }

  private context(id: string, node: NodeForm, context: TaskContext): FunctionContext {
    const called = node.args?.["graph"] as GraphForm | undefined;
    return {
      interrupt: (question) => context.interrupt(question as Json),
      write: (chunk) => context.write(chunk as Json),
      sleep: pause,
      attempt: context.attempt,
      context: context.context as Record<string, unknown> | undefined,
      count: () => this.environment.recorder.count(id),
      drain: () => {
        if (this.environment.mayDrain) context.drain("stop");
      },
      store: {
        get: (namespace, key) => context.store.get(namespace, key),
        put: (namespace, key, value) => context.store.put(namespace, key, value as Json),
      },
      ...(called && {
        runGraph: (input: unknown) =>
          context.runGraph(this.calledGraph(id, called), coreValue(input) as never),
      }),
    };
  }

  private calledGraph(id: string, form: GraphForm): GraphCode {
    const built = this.called.get(id) ?? this.build(form, `${id}/`, form.checkpointer !== false);
    this.called.set(id, built);
    return built;
  }

  private handler(form: NonNullable<NodeForm["onError"]>, place: string): CodeFunction {
    const { functions, recorder } = this.environment;
    const handle = functionNamed(functions, "nodeFns", form.fn, place)(form.args ?? {});
    return async (input: unknown, failure: { node: string; message: string }) => {
      const error = { node: failure.node, message: failure.message };
      return coreValue(await recorder.watch(() => handle(input, { error } as never)));
    };
  }

  private addBranch(
    builder: GraphBuilder<DynamicTypes>,
    code: CodeInProgress,
    branch: BranchForm,
    form: GraphForm,
  ): void {
    const { functions, recorder } = this.environment;
    const run = functionNamed(
      functions,
      "routeFns",
      branch.fn,
      `branch from "${branch.from}"`,
    )(branch.args ?? {});
    const name = `${branch.from}/${branch.name ?? branch.fn}`;
    // Without a list of targets the reference engine lets a router choose any node.
    const targets = branch.targets ?? [...Object.keys(form.nodes), "END"];
    builder.route(
      coreName(branch.from),
      (Array.isArray(targets)
        ? targets.map(coreName)
        : Object.fromEntries(
            Object.entries(targets).map(([label, to]) => [label, coreName(to)]),
          )) as string[],
      { name },
    );
    code.routes[name] = async (state: unknown, context: TaskContext) => {
      const interrupt = (question: unknown) => context.interrupt(question as Json);
      const chosen = await recorder.watch(() => run(state, { interrupt }));
      return Array.isArray(chosen) ? chosen.map(coreDestination) : coreDestination(chosen);
    };
  }
}

function timeoutOf(timeout: NonNullable<NodeForm["timeout"]>) {
  if (typeof timeout === "number") return timeout;
  const { runTimeout, idleTimeout, refreshOn } = timeout;
  return {
    ...(runTimeout !== undefined && { run: runTimeout }),
    ...(idleTimeout !== undefined && { idle: idleTimeout }),
    ...(refreshOn && { refresh: refreshOn }),
  };
}

/** A case gives the lifetime in seconds, as the reference engine takes it. */
const cacheOf = (cache: NonNullable<NodeForm["cache"]>) =>
  typeof cache === "object" && cache.ttl !== undefined ? { ttl: cache.ttl * 1000 } : true;
