import { GraphError } from "./errors.js";
import type { Json, JsonObject } from "./json.js";
import type { Manifest, NodeManifest, RouteManifest, SubgraphManifest } from "./manifest.js";
import { END, START } from "./markers.js";
import type { ChannelRule } from "./state.js";

/** A join as a channel: it holds the names of the nodes that have arrived. */
export interface CompiledJoin {
  readonly channel: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly deferred: boolean;
}

/** A node with everything that a step looks up, so that a step searches nothing. */
export interface CompiledNode {
  readonly name: string;
  readonly manifest: NodeManifest;
  /** Place in the order of names, which is the order in which results are applied. */
  readonly rank: number;
  /** Channels that wake it, the plain one first. */
  readonly triggers: readonly string[];
  /** Nodes behind its plain edges. */
  readonly edges: readonly string[];
  readonly joins: readonly CompiledJoin[];
  readonly routes: readonly RouteManifest[];
  readonly routeNames: readonly string[];
  /** The keys that it sees; undefined: all. */
  readonly input: readonly string[] | undefined;
  readonly subgraph: SubgraphManifest | undefined;
}

/** A graph prepared for stepping. Derived from the manifest alone. */
export interface CompiledGraph {
  readonly manifest: Manifest;
  /** Names of the subgraph nodes that lead here, joined by `|`. */
  readonly path: string;
  /** START is among them. */
  readonly nodes: ReadonlyMap<string, CompiledNode>;
  readonly start: CompiledNode;
  readonly channels: ReadonlyMap<string, ChannelRule>;
  /** State keys that empty themselves when a step doesn't write them. */
  readonly emptying: readonly string[];
  readonly untracked: readonly string[];
  /** State keys whose kept form differs from what is read. */
  readonly wrapped: readonly string[];
  readonly initial: JsonObject;
  readonly joins: ReadonlyMap<string, CompiledJoin>;
  /** By channel: the node that it wakes. */
  readonly wakes: ReadonlyMap<string, CompiledNode>;
  readonly output: ReadonlySet<string>;
}

/** A graph with all graphs inside it. */
export interface Program {
  readonly root: CompiledGraph;
  /** By path. */
  readonly graphs: ReadonlyMap<string, CompiledGraph>;
  /** True: durable subgraphs run in this run's frames, as inline ones do. */
  readonly inlineDurable: boolean;
}

/** Channel that wakes a node by a plain edge, a route or a command. */
export const branchChannel = (node: string): string => `branch:to:${node}`;

const emptyingReducers = new Set(["ephemeral", "any", "topic"]);
const startManifest: NodeManifest = { codeVersion: "" };

function joinsOf(manifest: Manifest): CompiledJoin[] {
  return manifest.joins.map((join) => ({
    channel: `join:${join.from.join("+")}:${join.to}`,
    from: join.from,
    to: join.to,
    deferred: manifest.nodes[join.to]?.defer ?? false,
  }));
}

function compileNode(
  manifest: Manifest,
  name: string,
  rank: number,
  joins: readonly CompiledJoin[],
): CompiledNode {
  const node = name === START ? startManifest : manifest.nodes[name]!;
  const routes = manifest.routes.filter((route) => route.from === name);
  const own = name === START ? [START] : [branchChannel(name)];
  return {
    name,
    manifest: node,
    rank,
    triggers: [...own, ...joins.filter((join) => join.to === name).map((join) => join.channel)],
    edges: manifest.edges.filter(([from, to]) => from === name && to !== END).map(([, to]) => to),
    joins: joins.filter((join) => join.from.includes(name)),
    routes,
    routeNames: routes.map((route) => route.name),
    input: node.input,
    subgraph: node.subgraph,
  };
}

function compileGraph(manifest: Manifest, path: string): CompiledGraph {
  const joins = joinsOf(manifest);
  const names = [START, ...Object.keys(manifest.nodes)];
  const ranks = new Map([...names].sort().map((name, rank) => [name, rank]));
  const nodes = new Map(names.map((name) => [name, compileNode(manifest, name, ranks.get(name)!, joins)]));
  const rules = Object.entries(manifest.state);
  const keysWhere = (holds: (rule: ChannelRule) => boolean) =>
    rules.filter(([, rule]) => holds(rule)).map(([key]) => key);
  return {
    manifest,
    path,
    nodes,
    start: nodes.get(START)!,
    channels: new Map(rules),
    emptying: keysWhere((rule) => emptyingReducers.has(rule.reducer) && !rule.accumulate),
    untracked: keysWhere((rule) => rule.reducer === "untracked"),
    wrapped: keysWhere((rule) => rule.reducer === "topic" && rule.unique === true),
    initial: Object.fromEntries(
      rules
        .filter(([, rule]) => rule.default !== undefined)
        .map(([key, rule]) => [key, rule.default as Json]),
    ),
    joins: new Map(joins.map((join) => [join.channel, join])),
    wakes: new Map(
      [...nodes.values()].flatMap((node) => node.triggers.map((trigger) => [trigger, node] as const)),
    ),
    output: new Set(manifest.output),
  };
}

function collect(manifest: Manifest, path: string, graphs: Map<string, CompiledGraph>): void {
  graphs.set(path, compileGraph(manifest, path));
  for (const [name, node] of Object.entries(manifest.nodes))
    if (node.subgraph) collect(node.subgraph.graph, path === "" ? name : `${path}|${name}`, graphs);
}

const programs = [new WeakMap<Manifest, Program>(), new WeakMap<Manifest, Program>()] as const;

/**
 * Prepares a manifest for stepping, once per manifest object.
 *
 * @param options.inlineDurable durable subgraphs run in this run's frames; default false: `plan` gives a task of kind
 *   `child` for each, which the host answers with the child's outcome
 */
export function compile(manifest: Manifest, options: { readonly inlineDurable?: boolean } = {}): Program {
  const inlineDurable = options.inlineDurable ?? false;
  const known = programs[inlineDurable ? 1 : 0];
  let program = known.get(manifest);
  if (program === undefined) {
    if (manifest.format !== 1)
      throw new GraphError(
        "GraphDefinitionError",
        `manifest has format ${JSON.stringify(manifest.format)}; this engine reads format 1`,
      );
    const graphs = new Map<string, CompiledGraph>();
    collect(manifest, "", graphs);
    program = { root: graphs.get("")!, graphs, inlineDurable };
    known.set(manifest, program);
  }
  return program;
}
