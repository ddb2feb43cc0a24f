import { GraphError } from "./errors.js";
import { has } from "./json.js";
import type { Manifest, NodeManifest, RouteManifest } from "./manifest.js";
import { END, START } from "./markers.js";
import { checkName } from "./names.js";
import { checkSchema } from "./schema-check.js";
import type { ChannelRule, Reducer } from "./state.js";

const reducers: readonly Reducer[] = [
  "last",
  "append",
  "sum",
  "max",
  "min",
  "merge",
  "union",
  "messages",
  "byId",
  "bounded",
  "ephemeral",
  "topic",
  "any",
  "untracked",
  "custom",
];

function refuse(message: string): never {
  throw new GraphError("GraphDefinitionError", message);
}

/**
 * Refuses a manifest that couldn't run, naming the place.
 *
 * @throws GraphError `UnreachableNodeError` or `GraphDefinitionError`
 */
export function validate(manifest: Manifest): void {
  checkState(manifest);
  if (Object.keys(manifest.nodes).length === 0) refuse(`graph "${manifest.name}" has no nodes`);
  for (const [name, node] of Object.entries(manifest.nodes)) checkNode(manifest, name, node);
  for (const [from, to] of manifest.edges) checkEdge(manifest, from, to);
  for (const join of manifest.joins) checkJoin(manifest, join.from, join.to);
  for (const route of manifest.routes) checkRoute(manifest, route);
  for (const [name, event] of Object.entries(manifest.events))
    if (event.schema !== undefined) checkSchema(event.schema, `payload of event "${name}"`);
  checkBreakpoints(manifest);
  checkReachable(manifest);
}

function checkState(manifest: Manifest): void {
  if (Object.keys(manifest.state).length === 0) refuse(`graph "${manifest.name}" has no state`);
  for (const [key, rule] of Object.entries(manifest.state)) {
    checkName(key, `state key "${key}"`);
    checkRule(key, rule);
  }
  if (manifest.model !== undefined) checkSchema(manifest.model, `state of graph "${manifest.name}"`);
  for (const side of ["input", "output"] as const)
    for (const key of manifest[side])
      if (!has(manifest.state, key))
        refuse(`${side} of graph "${manifest.name}" names "${key}", which isn't in the state`);
}

function checkRule(key: string, rule: ChannelRule): void {
  if (!reducers.includes(rule.reducer))
    refuse(
      `state key "${key}" has reducer ${JSON.stringify(rule.reducer)}; allowed are ${reducers.join(", ")}`,
    );
  if (rule.reducer === "bounded" && !(Number.isInteger(rule.limit) && rule.limit! > 0))
    refuse(`state key "${key}" has limit ${JSON.stringify(rule.limit)}; allowed is a whole number from 1`);
  if (rule.reducer === "custom") checkName(rule.name, `reducer of state key "${key}"`);
}

function checkNode(manifest: Manifest, name: string, node: NodeManifest): void {
  if (has(manifest.state, name) && manifest.mode === "channels")
    refuse(`node "${name}" has the name of a state key`);
  for (const key of node.input ?? [])
    if (!has(manifest.state, key)) refuse(`input of node "${name}" names "${key}", which isn't in the state`);
  for (const end of node.ends ?? []) checkTarget(manifest, end, `ends of node "${name}"`);
  if (node.arg !== undefined) checkSchema(node.arg, `argument of node "${name}"`);
  if (node.interrupts?.schema !== undefined)
    checkSchema(node.interrupts.schema, `interrupts.schema of node "${name}"`);
  if (node.interrupts && !manifest.resumable)
    refuse(`node "${name}" may ask, but graph "${manifest.name}" isn't resumable, so nobody could answer`);
  if (node.subgraph && (node.subgraph.memory === "none" || !manifest.resumable)) {
    const asking = askingNode(node.subgraph.graph);
    if (asking !== undefined)
      refuse(
        `node "${asking}" of subgraph "${name}" may ask, but the subgraph has no memory, so the answer would never reach it`,
      );
  }
  if (node.terminal) checkTerminal(manifest, name, node);
}

/** The path of a node that may ask, in the graph or below. */
function askingNode(manifest: Manifest): string | undefined {
  for (const [name, node] of Object.entries(manifest.nodes)) {
    if (node.interrupts) return name;
    const below = node.subgraph && askingNode(node.subgraph.graph);
    if (below !== undefined) return `${name}|${below}`;
  }
  return undefined;
}

function checkTerminal(manifest: Manifest, name: string, node: NodeManifest): void {
  const on =
    manifest.edges.find(([from, to]) => from === name && to !== END)?.[1] ??
    manifest.joins.find((join) => join.from.includes(name))?.to ??
    manifest.routes.find((route) => route.from === name)?.name ??
    node.ends?.[0];
  if (on !== undefined) refuse(`node "${name}" is terminal, but leads on to "${on}"`);
}

function checkTarget(manifest: Manifest, target: string, place: string): void {
  if (target !== END && !has(manifest.nodes, target)) refuse(`${place} leads to unknown node "${target}"`);
}

function checkSource(manifest: Manifest, source: string, place: string): void {
  if (source === END) refuse(`${place} begins at END, where nothing begins`);
  if (source !== START && !has(manifest.nodes, source)) refuse(`${place} begins at unknown node "${source}"`);
}

function checkEdge(manifest: Manifest, from: string, to: string): void {
  const place = `edge "${from}" → "${to}"`;
  checkSource(manifest, from, place);
  if (to === START) refuse(`${place} ends at START, where nothing ends`);
  if (from === START && to === END) refuse(`${place} goes from START to END with nothing to do`);
  checkTarget(manifest, to, place);
  refuseArgument(manifest, to, place);
}

/** A node with an argument of its own gets it by `send`; an edge would hand it the state instead. */
function refuseArgument(manifest: Manifest, to: string, place: string): void {
  if (manifest.nodes[to]?.arg !== undefined)
    refuse(`${place} leads to a node with an argument schema, which is reached by send only`);
}

function checkJoin(manifest: Manifest, from: readonly string[], to: string): void {
  const place = `join of ${from.map((name) => `"${name}"`).join(", ")} into "${to}"`;
  if (from.length === 0) refuse(`join into "${to}" waits for no node`);
  if (new Set(from).size !== from.length) refuse(`${place} names a node twice`);
  for (const source of from) {
    if (source === START) refuse(`${place} waits for START, which is no node`);
    checkSource(manifest, source, place);
  }
  if (to === END || to === START) refuse(`${place} must lead to a node`);
  checkTarget(manifest, to, place);
  refuseArgument(manifest, to, place);
}

function checkRoute(manifest: Manifest, route: RouteManifest): void {
  const place = `route "${route.name}"`;
  checkSource(manifest, route.from, place);
  const targets = Object.values(route.targets);
  if (targets.length === 0) refuse(`${place} declares no targets`);
  for (const target of targets) {
    if (target === START) refuse(`${place} leads to START, where nothing ends`);
    checkTarget(manifest, target, place);
  }
}

function checkBreakpoints(manifest: Manifest): void {
  for (const side of ["interruptBefore", "interruptAfter"] as const) {
    const names = manifest[side];
    if (names === undefined || names === "*") continue;
    for (const name of names)
      if (!has(manifest.nodes, name))
        refuse(`${side} of graph "${manifest.name}" names unknown node "${name}"`);
  }
}

/** The nodes that a node (or START) can wake by itself: everything but joins. */
function leadsTo(manifest: Manifest, from: string): readonly string[] {
  const node = manifest.nodes[from];
  // What an error handler's command names is code; without declared ends it may be any node.
  const ends = node?.ends ?? (node?.onError === undefined ? [] : Object.keys(manifest.nodes));
  return [
    ...ends,
    ...manifest.edges.filter(([source]) => source === from).map(([, to]) => to),
    ...manifest.routes
      .filter((route) => route.from === from)
      .flatMap((route) => Object.values(route.targets)),
  ];
}

function checkReachable(manifest: Manifest): void {
  const reached = new Set<string>([START]);
  const open: string[] = [START];
  const reach = (name: string) => {
    if (reached.has(name)) return;
    reached.add(name);
    open.push(name);
  };
  while (open.length > 0) {
    leadsTo(manifest, open.pop()!).forEach(reach);
    for (const join of manifest.joins) if (join.from.every((name) => reached.has(name))) reach(join.to);
  }
  for (const join of manifest.joins) {
    const missing = join.from.find((name) => !reached.has(name));
    if (missing !== undefined && reached.has(join.from.find((name) => name !== missing) ?? START))
      refuse(
        `join of ${join.from.map((name) => `"${name}"`).join(", ")} into "${join.to}" can't complete: ` +
          `"${missing}" is unreachable, or reachable only through the join`,
      );
  }
  for (const name of Object.keys(manifest.nodes))
    if (!reached.has(name))
      throw new GraphError(
        "UnreachableNodeError",
        `node "${name}" of graph "${manifest.name}" can't be reached from START; ` +
          `a node that a command leads to must be listed in the "ends" of the node that returns it`,
        "UNREACHABLE_NODE",
      );
}
