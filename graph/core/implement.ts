import { GraphError } from "./errors.js";
import { has } from "./json.js";
import type { Manifest } from "./manifest.js";
import type { CodeFunction, CodeParts, GraphCode, Implementation } from "./code.js";
import type { Graph } from "./define.js";
import type { GraphTypes } from "./types.js";

const kinds = ["nodes", "routes", "events", "errorHandlers", "reducers"] as const;

/** The names that each part of the code must have. */
export function requiredNames(manifest: Manifest): Record<(typeof kinds)[number], readonly string[]> {
  const nodes = Object.entries(manifest.nodes);
  const unique = (names: readonly (string | undefined)[]) =>
    [...new Set(names)].filter((name): name is string => name !== undefined);
  return {
    nodes: nodes.filter(([, node]) => node.subgraph === undefined).map(([name]) => name),
    routes: manifest.routes.map((route) => route.name),
    events: Object.keys(manifest.events),
    errorHandlers: unique(nodes.map(([, node]) => node.onError)),
    reducers: unique(Object.values(manifest.state).map((rule) => rule.name)),
  };
}

function checkPart(graph: string, kind: string, required: readonly string[], given: object): void {
  for (const name of required) {
    if (!has(given, name))
      throw new GraphError("GraphCodeError", `code of graph "${graph}" lacks ${kind}.${name}`);
    if (typeof (given as Record<string, unknown>)[name] !== "function")
      throw new GraphError(
        "GraphCodeError",
        `code of graph "${graph}" has a ${kind}.${name} that isn't a function`,
      );
  }
  for (const name of Object.keys(given))
    if (!required.includes(name))
      throw new GraphError(
        "GraphCodeError",
        `code of graph "${graph}" has ${kind}.${name}, which the graph doesn't know; known are: ${required.join(", ") || "none"}`,
      );
}

function checkSubgraphs(graph: Graph, given: Readonly<Record<string, GraphCode>>): void {
  const { manifest, name: graphName } = graph;
  for (const [name, node] of Object.entries(manifest.nodes)) {
    if (node.subgraph === undefined || (node.subgraph.durable && !has(given, name))) continue;
    if (!has(given, name))
      throw new GraphError("GraphCodeError", `code of graph "${graphName}" lacks subgraphs.${name}`);
    if (given[name]!.graph.manifest !== node.subgraph.graph)
      throw new GraphError(
        "GraphCodeError",
        `code of graph "${graphName}" has the code of another graph as subgraphs.${name}`,
      );
  }
  for (const name of Object.keys(given))
    if (manifest.nodes[name]?.subgraph === undefined)
      throw new GraphError(
        "GraphCodeError",
        `code of graph "${graphName}" has subgraphs.${name}, which the graph doesn't know`,
      );
}

/**
 * Binds code to a graph. Each name of the definition needs its function; a missing or surplus one is a type error,
 * and an error here for code that wasn't type-checked.
 *
 * @throws GraphError `GraphCodeError`, naming the part
 */
export function implement<T extends GraphTypes>(
  graph: Graph<T>,
  implementation: Implementation<T>,
): GraphCode<T> {
  const given = implementation as unknown as Partial<CodeParts>;
  const required = requiredNames(graph.manifest);
  const parts = {} as Record<string, Readonly<Record<string, CodeFunction>>>;
  for (const kind of kinds) {
    parts[kind] = given[kind] ?? {};
    checkPart(graph.name, kind, required[kind], parts[kind]);
  }
  const subgraphs = given.subgraphs ?? {};
  checkSubgraphs(graph as Graph, subgraphs);
  return { graph, parts: { ...parts, subgraphs } as unknown as CodeParts };
}
