import { has } from "./json.js";
import type { Manifest } from "./manifest.js";
import { END, START } from "./markers.js";
import type { Snapshot } from "./view.js";

/** How a node of a run stands. */
export type NodeState = "done" | "next" | "waiting" | "failed";

/** The nodes of a run by path (`sub|inner` for a node in a subgraph); nodes that aren't named haven't run. */
export type NodeStates = Readonly<Record<string, NodeState>>;

const colours: Readonly<Record<NodeState, { readonly fill: string; readonly line: string }>> = {
  done: { fill: "#d3f2d9", line: "#2f7d3f" },
  next: { fill: "#d6e6fb", line: "#2b5fa8" },
  waiting: { fill: "#fdf0c8", line: "#a67c00" },
  failed: { fill: "#fbd9d5", line: "#b3321f" },
};

/** A line of the picture, from node to node. */
interface Line {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  /** Only taken when a route or a command says so. */
  readonly isChoice: boolean;
}

function linesOf(manifest: Manifest): Line[] {
  const routes = manifest.routes.flatMap((route) =>
    Object.entries(route.targets).map(([label, to]): Line => ({
      from: route.from,
      to,
      isChoice: true,
      ...(label !== to && { label }),
    })),
  );
  const commands = Object.entries(manifest.nodes).flatMap(([from, node]) =>
    (node.ends ?? []).map((to): Line => ({ from, to, isChoice: true })),
  );
  const lines = [
    ...manifest.edges.map(([from, to]): Line => ({ from, to, isChoice: false })),
    ...manifest.joins.flatMap((join) =>
      join.from.map((from): Line => ({ from, to: join.to, label: "all", isChoice: false })),
    ),
    ...routes,
    ...commands,
  ];
  const leads = new Set(lines.map((line) => line.from));
  // A node that nothing leads on from ends its path; the line says so.
  const ends = Object.keys(manifest.nodes).filter((name) => !leads.has(name));
  return [...lines, ...ends.map((from): Line => ({ from, to: END, isChoice: false }))];
}

/** The states of the nodes of a run, from its checkpoints (newest first) and its newest state. */
export function nodeStates(history: readonly Snapshot[], state: Snapshot): NodeStates {
  const states: Record<string, NodeState> = {};
  const mark = (snapshot: Snapshot, prefix: string): void => {
    for (const task of snapshot.tasks) {
      const path = `${prefix}${task.name}`;
      states[path] = task.error
        ? "failed"
        : task.interrupts.length > 0
          ? "waiting"
          : task.done
            ? "done"
            : "next";
      if (task.state) mark(task.state, `${path}|`);
    }
  };
  for (const { tasks, checkpointId } of history)
    if (checkpointId !== state.checkpointId) for (const task of tasks) states[task.name] = "done";
  mark(state, "");
  return states;
}

const identifier = (path: string): string =>
  `n_${path.replace(/\W/gu, (character) => `_${character.codePointAt(0)}_`)}`;
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function mermaidNode(path: string, name: string, indent: string): string {
  const label = name === START ? "START" : name === END ? "END" : name;
  const [open, close] = name === START || name === END ? ["([", "])"] : ["[", "]"];
  return `${indent}${identifier(path)}${open}"${escaped(label)}"${close}`;
}

function mermaidBody(manifest: Manifest, prefix: string, indent: string): string[] {
  const lines = linesOf(manifest);
  const inner = Object.entries(manifest.nodes).flatMap(([name, node]) => {
    const path = `${prefix}${name}`;
    if (node.subgraph === undefined) return [mermaidNode(path, name, indent)];
    return [
      `${indent}subgraph ${identifier(path)}["${escaped(name)}"]`,
      ...mermaidBody(node.subgraph.graph, `${path}|`, `${indent}  `),
      `${indent}end`,
    ];
  });
  const drawn = lines.map(({ from, to, label, isChoice }) => {
    const arrow = isChoice ? "-.->" : "-->";
    const text = label === undefined ? "" : `|"${escaped(label)}"|`;
    return `${indent}${identifier(`${prefix}${from}`)} ${arrow}${text} ${identifier(`${prefix}${to}`)}`;
  });
  const hasEnd = lines.some(({ to }) => to === END);
  return [
    mermaidNode(`${prefix}${START}`, START, indent),
    ...inner,
    ...(hasEnd ? [mermaidNode(`${prefix}${END}`, END, indent)] : []),
    ...drawn,
  ];
}

/** The graph as Mermaid text; dotted lines are taken only when a route or a command says so. */
export function toMermaid(manifest: Manifest, states: NodeStates = {}): string {
  const classes = Object.entries(colours)
    .filter(([state]) => Object.values(states).includes(state as NodeState))
    .map(([state, { fill, line }]) => `  classDef ${state} fill:${fill},stroke:${line}`);
  const marks = Object.entries(states)
    .filter(([path]) => hasNode(manifest, path))
    .map(([path, state]) => `  class ${identifier(path)} ${state}`);
  return ["flowchart TD", ...mermaidBody(manifest, "", "  "), ...classes, ...marks, ""].join("\n");
}

function hasNode(manifest: Manifest, path: string): boolean {
  const [name, ...rest] = path.split("|");
  const node = has(manifest.nodes, name!) ? manifest.nodes[name!] : undefined;
  if (rest.length === 0) return node !== undefined;
  return node?.subgraph !== undefined && hasNode(node.subgraph.graph, rest.join("|"));
}

const quoted = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

function dotBody(manifest: Manifest, prefix: string, states: NodeStates): string[] {
  const node = (name: string, label: string, shape: string): string => {
    const state = states[`${prefix}${name}`];
    const paint =
      state === undefined ? "" : `, fillcolor="${colours[state].fill}", color="${colours[state].line}"`;
    return `${quoted(`${prefix}${name}`)} [label=${quoted(label)}, shape=${shape}${paint}];`;
  };
  const inner = Object.entries(manifest.nodes).flatMap(([name, { subgraph }]) => [
    node(name, name, subgraph === undefined ? "box" : "component"),
    ...(subgraph === undefined
      ? []
      : [
          `subgraph ${quoted(`cluster_${prefix}${name}`)} { label=${quoted(name)}; color="#888888";`,
          ...dotBody(subgraph.graph, `${prefix}${name}|`, states),
          "}",
          `${quoted(`${prefix}${name}`)} -> ${quoted(`${prefix}${name}|${START}`)} [style=dotted, arrowhead=none];`,
        ]),
  ]);
  const lines = linesOf(manifest);
  const drawn = lines.map(({ from, to, label, isChoice }) => {
    const attributes = [
      ...(isChoice ? ["style=dashed"] : []),
      ...(label === undefined ? [] : [`label=${quoted(label)}`]),
    ];
    return `${quoted(`${prefix}${from}`)} -> ${quoted(`${prefix}${to}`)} [${attributes.join(", ")}];`;
  });
  return [
    node(START, "START", "oval"),
    ...inner,
    ...(lines.some(({ to }) => to === END) ? [node(END, "END", "oval")] : []),
    ...drawn,
  ];
}

/** The graph in Graphviz' language, for whoever draws it. */
export function toDot(manifest: Manifest, states: NodeStates = {}): string {
  return [
    `digraph ${quoted(manifest.name)} {`,
    'node [fontname="sans-serif", fontsize=11, style="filled,rounded", fillcolor="white"];',
    'edge [fontname="sans-serif", fontsize=9];',
    ...dotBody(manifest, "", states),
    "}",
    "",
  ].join("\n");
}
