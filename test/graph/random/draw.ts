import type { BranchForm, CaseForm, ChannelForm, GraphForm, NodeForm } from "../../../graph/cases/form.js";
import type { Blueprint, NodeBlueprint, SubgraphBlueprint } from "./blueprint.js";

/**
 * The channels of every drawn graph, beside the log. Each takes the small number of a write and makes a value of it.
 * All may be written by several nodes of a step, apart from `strict`.
 */
const channels: readonly { key: string; form: ChannelForm; value: (drawn: number) => unknown }[] = [
  { key: "total", form: { type: "builtIn", reducer: "sum" }, value: (drawn) => drawn },
  { key: "text", form: { type: "reduce", reducer: "join" }, value: (drawn) => `t${drawn}` },
  { key: "top", form: { type: "builtIn", reducer: "max" }, value: (drawn) => drawn },
  { key: "low", form: { type: "builtIn", reducer: "min" }, value: (drawn) => drawn },
  { key: "list", form: { type: "builtIn", reducer: "append" }, value: listOrOverwrite },
  {
    key: "set",
    form: { type: "builtIn", reducer: "union" },
    value: (drawn) => [drawn % 3, { of: drawn % 2 }],
  },
  {
    key: "bag",
    form: { type: "builtIn", reducer: "merge" },
    value: (drawn) => ({ [`k${drawn % 3}`]: drawn }),
  },
  { key: "records", form: { type: "builtIn", reducer: "byId" }, value: recordOrRemoval },
  {
    key: "tail",
    form: { type: "builtIn", reducer: "bounded", limit: 3 },
    value: (drawn) => [drawn, drawn + 1],
  },
  { key: "wide", form: { type: "last", default: "none" }, value: (drawn) => drawn },
  { key: "topic", form: { type: "topic" }, value: (drawn) => [drawn, drawn % 2] },
  { key: "kept", form: { type: "topic", accumulate: true, unique: true }, value: (drawn) => drawn % 4 },
  { key: "brief", form: { type: "ephemeral", guard: false }, value: (drawn) => drawn },
  { key: "any", form: { type: "any" }, value: (drawn) => drawn },
  { key: "messages", form: { type: "messages" }, value: message },
  { key: "strict", form: { type: "last" }, value: (drawn) => (drawn === 0 ? null : drawn) },
];

function listOrOverwrite(drawn: number): unknown {
  return drawn === 9 ? { $overwrite: ["anew"] } : [`l${drawn}`];
}

function recordOrRemoval(drawn: number): unknown {
  const id = `r${drawn % 3}`;
  return drawn > 7 ? [{ id, $remove: true }] : [{ id, drawn }];
}

function message(drawn: number): unknown {
  return [{ role: drawn % 2 === 0 ? "user" : "assistant", content: `m${drawn}`, id: `id${drawn % 4}` }];
}

/** A removal of an entry that isn't there is an error for messages only; records take it, so it may be drawn. */
const channelAt = (index: number) => channels[index % channels.length]!;

/** The reference engine takes these for other channels when a node's input names them. */
const unnarrowable = new Set(["topic", "kept", "brief", "any"]);

const log: ChannelForm = { type: "reduce", reducer: "append", default: [] };

/** A case without its script, which depends on what the run does. */
export type DrawnCase = Omit<CaseForm, "script"> & {
  input: Record<string, unknown>;
  /** For each call. */
  recursionLimit: number | undefined;
};

/** Makes the graph that the blueprint stands for. */
export function drawCase(blueprint: Blueprint): DrawnCase {
  const stops = has(blueprint.nodes, ({ asks, fault }) => asks > 0 || fault === "fail");
  const drawing = new Drawing(blueprint.nodes, "", {
    failing: 0,
    asks: has(blueprint.nodes, ({ asks }) => asks > 0),
    fails: has(blueprint.nodes, ({ fault }) => fault === "fail"),
    stops,
    perThread:
      !stops && !blueprint.stepped && blueprint.recursionLimit === undefined && blueprint.loop === undefined,
  });
  const graph = drawing.graph(channels.length);
  if (blueprint.loop !== undefined) drawing.addLoop(graph, blueprint.loop);
  // A subgraph that is out of steps fails beside siblings that run: which of them finish is left to the clock.
  const isFlat = !has(blueprint.nodes, ({ subgraph }) => subgraph !== undefined);
  const recursionLimit = isFlat ? blueprint.recursionLimit : undefined;
  return { id: "drawn", graph, input: { log: ["in"], ...valuesOf(blueprint.input) }, recursionLimit };
}

function valuesOf(writes: NodeBlueprint["writes"]): Record<string, unknown> {
  return Object.fromEntries(
    writes.map(({ channel, value }) => [channelAt(channel).key, channelAt(channel).value(value)]),
  );
}

/**
 * What the graphs of one case share. While a question or a failure holds a step up, the engines show what finished in
 * it differently in a few ways; each has a case of its own, and graphs in which they would meet aren't drawn.
 */
interface Budget {
  /** Failing nodes so far. Only one node of a case fails, so that it is known which failure ends a step. */
  failing: number;
  /** Some node asks. */
  readonly asks: boolean;
  /** Some node fails. Its siblings aren't tried again then, so that it is known what finished before the failure. */
  readonly fails: boolean;
  /** Some node may hold a step up. */
  readonly stops: boolean;
  /** Subgraphs may have memory per thread: where a call goes on, the reference engine doesn't run them a second time. */
  readonly perThread: boolean;
}

/** True when a node of the graphs, subgraphs included, is as asked for. */
function has(nodes: readonly NodeBlueprint[], test: (node: NodeBlueprint) => boolean): boolean {
  return nodes.some((node) => test(node) || (node.subgraph !== undefined && has(node.subgraph.nodes, test)));
}

interface Edges {
  readonly routed: string[];
  readonly sentByRoute: unknown[];
  readonly goto: unknown[];
}

/** Draws one graph: names first, then how nodes reach each other, then what each does. */
class Drawing {
  private readonly names: readonly string[];
  private readonly from = new Map<string, Edges>();
  private readonly edges: [string | string[], string][] = [];
  /** Nodes that a waiting edge wakes: no other channel may wake them, see the test of that difference. */
  private readonly joined = new Set<string>();
  /** Nodes that only get packets, and with them an input that isn't the state. */
  private readonly sentTo = new Set<string>();
  /** Those of them whose packets come from several tasks, so that two may ask the same: they don't ask. */
  private readonly crowded = new Set<string>();

  constructor(
    private readonly nodes: readonly NodeBlueprint[],
    private readonly prefix: string,
    private readonly budget: Budget,
    /** For a subgraph: where its last node sends the parent. */
    private readonly parentGoto: readonly unknown[] = [],
  ) {
    this.names = nodes.map(({ letter }, index) => `${String.fromCharCode(97 + letter)}${index}`);
  }

  graph(shared: number): GraphForm {
    this.nodes.forEach((node, index) => this.addEntry(node, index));
    return {
      channels: { log, ...Object.fromEntries(channels.slice(0, shared).map(({ key, form }) => [key, form])) },
      nodes: Object.fromEntries(
        this.nodes.map((node, index) => [this.names[index]!, this.node(node, index, shared)]),
      ),
      edges: this.edges,
      branches: [...this.from].flatMap(([name, edges]) => this.branches(name, edges)),
    };
  }

  addLoop(graph: GraphForm, loop: NonNullable<Blueprint["loop"]>): void {
    const from = this.names[loop.from % this.names.length]!;
    const to = this.names[loop.to % this.names.length]!;
    if (this.joined.has(to) || this.sentTo.has(to)) return;
    graph.branches!.push({
      from,
      fn: "whileShort",
      name: "back",
      args: { key: "log", until: loop.until, again: to },
      targets: [to, "END"],
    });
  }

  private addEntry({ entry, subgraph }: NodeBlueprint, index: number): void {
    const name = this.names[index]!;
    const sources = entry.from.map((one) =>
      one % (index + 1) === 0 ? "START" : this.names[(one % (index + 1)) - 1]!,
    );
    const nodes = [...new Set(sources)].filter((source) => source !== "START");
    const first = nodes[0];
    const packets = Array.from({ length: entry.packets }, (_, item) => ({
      $send: { node: name, arg: { item: `-${index}${item}` } },
    }));
    if (entry.how === "join" && nodes.length > 1) {
      this.joined.add(name);
      this.edges.push([nodes, name]);
    } else if (entry.how === "route") {
      this.edgesOf(first ?? "START").routed.push(name);
    } else if (entry.how === "goto" && first !== undefined) {
      this.edgesOf(first).goto.push(name);
    } else if (entry.how === "sendByRoute" && subgraph === undefined) {
      this.sendTo(name, first ?? "START");
      this.edgesOf(first ?? "START").sentByRoute.push(...packets);
    } else if (
      entry.how === "sendByGoto" &&
      first !== undefined &&
      subgraph === undefined &&
      !this.isSub(first)
    ) {
      this.sendTo(name, first);
      this.edgesOf(first).goto.push(...packets);
    } else {
      for (const source of new Set(sources)) this.edges.push([source, name]);
    }
  }

  private sendTo(name: string, sender: string): void {
    if (this.sentTo.has(sender)) this.crowded.add(name);
    this.sentTo.add(name);
  }

  private isSub(name: string): boolean {
    return this.nodes[this.names.indexOf(name)]?.subgraph !== undefined;
  }

  private edgesOf(name: string): Edges {
    const found = this.from.get(name) ?? { routed: [], sentByRoute: [], goto: [] };
    this.from.set(name, found);
    return found;
  }

  private branches(name: string, { routed, sentByRoute }: Edges): BranchForm[] {
    const branches: BranchForm[] = [];
    const mayEnd = this.nodes[this.names.indexOf(name)]?.routeMayEnd === true;
    if (routed.length > 0) {
      const choices = [...routed, ...(routed.length > 1 ? [routed] : []), ...(mayEnd ? ["END"] : [])];
      const args = { key: "log", choices };
      branches.push({ from: name, fn: "byLength", name: "names", args, targets: [...routed, "END"] });
    }
    if (sentByRoute.length > 0) {
      const targets = [...new Set(sentByRoute.map((one) => (one as { $send: { node: string } }).$send.node))];
      const args = { key: "log", choices: [sentByRoute, ...(mayEnd ? ["END"] : [])] };
      branches.push({ from: name, fn: "byLength", name: "packets", args, targets: [...targets, "END"] });
    }
    return branches;
  }

  private node(node: NodeBlueprint, index: number, shared: number): NodeForm {
    const name = this.names[index]!;
    const goto = this.from.get(name)?.goto ?? [];
    const ends = goto.map((one) =>
      typeof one === "string" ? one : (one as { $send: { node: string } }).$send.node,
    );
    const reach = ends.length > 0 ? { ends: [...new Set(ends)] } : {};
    if (node.subgraph !== undefined) return { ...reach, graph: this.subgraph(node.subgraph, name, goto) };
    const isLast = index === this.nodes.length - 1;
    const toParent = isLast && this.parentGoto.length > 0;
    const visible = node.sees
      .filter((one) => one % channels.length < shared)
      .map((one) => channelAt(one).key);
    const seen = [...new Set(visible)].filter((key) => key !== "messages");
    const narrowed = seen.filter((key) => !unnarrowable.has(key));
    const writes = node.writes.filter(({ channel, value }) => {
      const mayConflict =
        channelAt(channel).key === "strict" || (channelAt(channel).key === "list" && value === 9);
      return channel % channels.length < shared && !(this.budget.stops && mayConflict);
    });
    return {
      fn: "act",
      args: {
        label: `${this.prefix}${name}`,
        ...(seen.length > 0 && { sees: seen }),
        ...(writes.length > 0 && { update: valuesOf(writes) }),
        ...(node.asks > 0 &&
          !this.crowded.has(name) && {
            asks: ["p", "q"].slice(0, node.asks).map((part) => `${part}${this.prefix}${name}`),
          }),
        ...(toParent ? { goto: this.parentGoto, graph: "PARENT" } : goto.length > 0 && { goto }),
        ...this.fault(node, name),
      },
      ...reach,
      ...(node.defer && { defer: true }),
      ...(node.narrow && !this.sentTo.has(name) && narrowed.length > 0 && { input: narrowed }),
      ...(this.isRetried(node) && { retry: { maxAttempts: 3 } }),
      ...(node.fault === "handled" && !this.budget.stops && { onError: { fn: "handled" } }),
    };
  }

  /** A command to the parent comes without waiting for siblings, so these aren't tried again either. */
  private isRetried(node: NodeBlueprint): boolean {
    return node.fault === "retry" && !this.budget.fails && this.parentGoto.length === 0;
  }

  private fault(node: NodeBlueprint, name: string): Record<string, unknown> {
    switch (node.fault) {
      case "none":
        return {};
      case "retry":
        return this.isRetried(node) ? { failUntil: 2 } : {};
      case "handled":
        return this.budget.stops ? {} : { failUntil: 2 };
      case "fail":
        // An asking node's calls are counted differently, and several packets may fail at once.
        if (node.asks > 0 || this.sentTo.has(name) || this.budget.failing > 0) return {};
        if (this.prefix !== "" && (this.budget.asks || this.parentGoto.length > 0)) return {};
        this.budget.failing += 1;
        return { fails: 1 };
    }
  }

  private subgraph(blueprint: SubgraphBlueprint, name: string, goto: readonly unknown[]): GraphForm {
    const inner = new Drawing(blueprint.nodes, `${this.prefix}${name}/`, this.budget, goto);
    return {
      ...inner.graph(blueprint.shared),
      ...(blueprint.perThread && this.budget.perThread && goto.length === 0 && { checkpointer: true }),
    };
  }
}
