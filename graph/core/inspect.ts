import { branchChannel, compile, type CompiledGraph } from "./compile.js";
import type { Manifest } from "./manifest.js";
import { START } from "./markers.js";
import type { ChannelRule } from "./state.js";

/** A channel as it really is: a key of the state, or one that carries the control flow. */
export interface ChannelView {
  readonly name: string;
  readonly kind: "state" | "branch" | "join" | "input" | "sends";
  /** How writes become its value. */
  readonly type: string;
  /** The nodes that it wakes. */
  readonly wakes: readonly string[];
}

export interface NodeView {
  readonly name: string;
  /** Channels that wake it. */
  readonly triggers: readonly string[];
  /** State keys that its code sees. */
  readonly reads: readonly string[];
  /** What it writes after its code: the state, then edges, joins and routes. */
  readonly writers: readonly string[];
  readonly subgraph?: GraphView;
}

export interface GraphView {
  readonly name: string;
  readonly channels: readonly ChannelView[];
  readonly nodes: readonly NodeView[];
}

function typeOf(rule: ChannelRule): string {
  const options = [
    ...(rule.name === undefined ? [] : [rule.name]),
    ...(rule.limit === undefined ? [] : [String(rule.limit)]),
    ...(rule.concurrent ? ["concurrent"] : []),
    ...(rule.accumulate ? ["accumulate"] : []),
    ...(rule.unique ? ["unique"] : []),
  ];
  return options.length === 0 ? rule.reducer : `${rule.reducer}(${options.join(", ")})`;
}

function channelsOf(graph: CompiledGraph): ChannelView[] {
  const state = [...graph.channels].map(([name, rule]): ChannelView => ({
    name,
    kind: "state",
    type: typeOf(rule),
    wakes: [],
  }));
  const branches = [...graph.nodes.values()]
    .filter((node) => node.name !== START)
    .map((node): ChannelView => ({
      name: branchChannel(node.name),
      kind: "branch",
      type: node.manifest.defer ? "deferred until nothing else would run" : "one step",
      wakes: [node.name],
    }));
  const joins = [...graph.joins.values()].map((join): ChannelView => ({
    name: join.channel,
    kind: "join",
    type: join.deferred ? `all of ${join.from.join(", ")}, deferred` : `all of ${join.from.join(", ")}`,
    wakes: [join.to],
  }));
  return [
    ...state,
    { name: START, kind: "input", type: "one step", wakes: [START] },
    ...branches,
    ...joins,
    { name: "sends", kind: "sends", type: "a task each, in order", wakes: [] },
  ];
}

function nodesOf(graph: CompiledGraph): NodeView[] {
  return [...graph.nodes.values()].map((node): NodeView => ({
    name: node.name,
    triggers: node.triggers,
    reads: node.name === START ? [] : (node.input ?? [...graph.channels.keys()]),
    writers: [
      `state: ${(node.name === START ? graph.manifest.input : [...graph.channels.keys()]).join(", ")}`,
      ...node.edges.map((target) => `edge: ${branchChannel(target)}`),
      ...node.joins.map((join) => `join: ${join.channel}`),
      ...node.routes.map(
        (route) => `route ${route.name}: ${[...new Set(Object.values(route.targets))].join(", ")}`,
      ),
      ...(node.manifest.ends ?? []).map((target) => `command: ${branchChannel(target)}`),
    ],
    ...(node.subgraph && { subgraph: inspect(node.subgraph.graph) }),
  }));
}

/** What a graph comes down to: channels with their types, and for each node what wakes it, what it reads and writes. */
export function inspect(manifest: Manifest): GraphView {
  const { root } = compile(manifest);
  return { name: manifest.name, channels: channelsOf(root), nodes: nodesOf(root) };
}
