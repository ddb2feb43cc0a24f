import { GraphError } from "./errors.js";
import { canonicalJson, sha256Hex } from "./hash.js";
import { has, type Json } from "./json.js";
import type { EventManifest, JoinManifest, Manifest, NodeManifest, RouteManifest } from "./manifest.js";
import type { NodeOptions, SubgraphOptions } from "./options.js";
import { cacheRule, interruptRule, retryRule, timeoutRule } from "./policies.js";
import { toJsonSchema, type JsonSchema, type Schema } from "./schema.js";
import type { ChannelRule, Channels } from "./state.js";
import type { GraphDefinition, ObjectState } from "./define.js";
import { checkName } from "./names.js";
import { modelKey } from "./object-state.js";
import { validate } from "./validate.js";

type AnyDefinition = GraphDefinition<unknown, string, string, unknown>;
type AnyNodeOptions = NodeOptions<string, string, Schema>;

/** Collects the parts of a graph as data; names are checked as they come, what needs the whole at `build`. */
export class Draft {
  readonly #definition: AnyDefinition;
  readonly #nodes: Record<string, NodeManifest> = {};
  readonly #edges: [string, string][] = [];
  readonly #joins: JoinManifest[] = [];
  readonly #routes: RouteManifest[] = [];
  readonly #events: Record<string, EventManifest> = {};

  constructor(definition: AnyDefinition) {
    checkName(definition.name, "name of the graph");
    if (typeof definition.version !== "string" || definition.version === "")
      throw new GraphError(
        "GraphDefinitionError",
        `version of graph "${definition.name}" is ${JSON.stringify(definition.version)}; allowed is a text that isn't empty`,
      );
    this.#definition = definition;
  }

  node(name: string, options: AnyNodeOptions): void {
    const defaults = this.#definition.defaults ?? {};
    const place = `node "${name}"`;
    const cache = options.cache ?? defaults.cache ?? false;
    this.#add(name, {
      ...this.#shared(name, options),
      codeVersion: options.codeVersion ?? "1",
      ...(options.tool && { tool: true }),
      ...((options.retry ?? defaults.retry) && {
        retry: retryRule((options.retry ?? defaults.retry)!, place),
      }),
      ...((options.timeout ?? defaults.timeout) !== undefined && {
        timeout: timeoutRule((options.timeout ?? defaults.timeout)!, place),
      }),
      ...(cache !== false && { cache: cacheRule(cache, place) }),
      ...(options.arg && { arg: toJsonSchema(options.arg, `argument of ${place}`) }),
      ...(options.interrupts && { interrupts: interruptRule(options.interrupts, place) }),
    });
  }

  subgraph(name: string, graph: Manifest, options: SubgraphOptions<string, string>): void {
    this.#add(name, {
      ...this.#shared(name, options),
      codeVersion: "1",
      subgraph: {
        graph,
        memory: options.memory ?? "call",
        ...(options.durable && { durable: true }),
        returns: options.returns ?? "all",
      },
    });
  }

  #shared(
    name: string,
    options: AnyNodeOptions | SubgraphOptions<string, string>,
  ): Omit<NodeManifest, "codeVersion"> {
    const onError = options.onError ? name : this.#definition.defaults?.onError ? "*" : undefined;
    return {
      ...(options.defer && { defer: true }),
      ...(options.terminal && { terminal: true }),
      ...(options.input && { input: [...options.input] }),
      ...(options.ends && { ends: [...options.ends] }),
      ...(onError !== undefined && { onError }),
    };
  }

  #add(name: string, node: NodeManifest): void {
    checkName(name, `name of node "${name}"`);
    if (has(this.#nodes, name))
      throw new GraphError("GraphDefinitionError", `node "${name}" is there already`);
    this.#nodes[name] = node;
  }

  edge(from: string, to: string): void {
    if (!this.#edges.some(([source, target]) => source === from && target === to))
      this.#edges.push([from, to]);
  }

  join(from: readonly string[], to: string): void {
    this.#joins.push({ from: [...from], to });
  }

  route(
    from: string,
    targets: readonly string[] | Readonly<Record<string, string>> | undefined,
    name: string,
  ): void {
    if (targets === undefined)
      throw new GraphError("GraphDefinitionError", `route "${name}" from "${from}" declares no targets`);
    const labelled = Array.isArray(targets)
      ? Object.fromEntries((targets as readonly string[]).map((target) => [target, target]))
      : { ...(targets as Readonly<Record<string, string>>) };
    if (this.#routes.some((route) => route.name === name))
      throw new GraphError(
        "GraphDefinitionError",
        `route "${name}" from "${from}" has the name of another route; give it one of its own with { name }`,
      );
    this.#routes.push({ name, from, targets: labelled });
  }

  event(name: string, schema: Schema | undefined): void {
    checkName(name, `name of event "${name}"`);
    if (has(this.#events, name))
      throw new GraphError("GraphDefinitionError", `event "${name}" is there already`);
    this.#events[name] =
      schema === undefined ? {} : { schema: toJsonSchema(schema, `payload of event "${name}"`) };
  }

  build(): { name: string; version: string; manifest: Manifest; hash: string } {
    const definition = this.#definition;
    const state = stateOf(definition);
    const keys = Object.keys(state.channels);
    const manifest: Manifest = {
      format: 1,
      name: definition.name,
      version: definition.version,
      mode: state.model === undefined ? "channels" : "object",
      state: state.channels,
      ...(state.model !== undefined && { model: state.model }),
      input: [...(definition.input ?? keys)],
      output: [...(definition.output ?? keys)],
      resumable: definition.resumable ?? true,
      nodes: { ...this.#nodes },
      edges: [...this.#edges].sort(compareEdges),
      joins: [...this.#joins],
      routes: [...this.#routes],
      events: { ...this.#events },
      ...(definition.interruptBefore && { interruptBefore: copied(definition.interruptBefore) }),
      ...(definition.interruptAfter && { interruptAfter: copied(definition.interruptAfter) }),
    };
    validate(manifest);
    return {
      name: manifest.name,
      version: manifest.version,
      manifest: frozen(manifest),
      hash: manifestHash(manifest),
    };
  }
}

/** SHA-256 of the manifest's canonical JSON (RFC 8785), lowercase hex: the same for any order of keys. */
export function manifestHash(manifest: Manifest): string {
  return sha256Hex(canonicalJson(manifest as unknown as Json));
}

function copied(names: readonly string[] | "*"): readonly string[] | "*" {
  return names === "*" ? names : [...names];
}

function compareEdges(a: readonly [string, string], b: readonly [string, string]): number {
  const [first, second] = a[0] === b[0] ? [a[1], b[1]] : [a[0], b[0]];
  return first < second ? -1 : 1;
}

function stateOf(definition: AnyDefinition): { channels: Record<string, ChannelRule>; model?: JsonSchema } {
  const state = definition.state as Channels | ObjectState<unknown>;
  if (isObjectState(state)) {
    const model = toJsonSchema(state.objectState.schema, `state of graph "${definition.name}"`);
    const initial = state.objectState.default;
    return {
      channels: { [modelKey]: { reducer: "last", ...(initial !== undefined && { default: initial }) } },
      model,
    };
  }
  return { channels: Object.fromEntries(Object.entries(state).map(([key, channel]) => [key, channel.rule])) };
}

function isObjectState(state: Channels | ObjectState<unknown>): state is ObjectState<unknown> {
  return has(state, "objectState") && !has((state as ObjectState<unknown>).objectState, "rule");
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
