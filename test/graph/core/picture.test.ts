import { describe, expect, it } from "vitest";
import {
  append,
  bounded,
  createRunner,
  custom,
  defineGraph,
  END,
  implement,
  inspect,
  last,
  nodeStates,
  START,
  toDot,
  toMermaid,
  toSvg,
  topic,
} from "../../../graph/index.js";

const child = defineGraph({ name: "child", version: "1", state: { log: append<string>() } })
  .node("first")
  .node("ask", { interrupts: true })
  .edge(START, "first")
  .edge("first", "ask")
  .build();
const graph = defineGraph({
  name: 'say "hi"',
  version: "1",
  state: {
    log: append<string>(),
    x: last<number>({ concurrent: true }),
    few: bounded<number>(3),
    all: topic<string>({ accumulate: true, unique: true }),
    own: custom<number>("own"),
  },
  input: ["log"],
})
  .node("a & b", { ends: ["late"] })
  .subgraph("sub", child)
  .node("bad", { input: ["x"] })
  .node("late", { defer: true })
  .node("end", { defer: true })
  .edge(START, "a & b")
  .edge("a & b", "bad")
  .route("a & b", { yes: "sub", no: END, late: "late" }, { name: "on" })
  .join(["sub", "bad"], "end")
  .build();

async function runOf() {
  const runner = createRunner(
    implement(graph, {
      nodes: { "a & b": () => ({ log: "a" }), bad: () => null, late: () => null, end: () => null },
      routes: { on: () => "yes" },
      reducers: { own: (a, b) => a + b },
      subgraphs: {
        sub: implement(child, {
          nodes: { first: () => null, ask: (_s, context) => ({ log: String(context.interrupt("?")) }) },
        }),
      },
    }),
  );
  await runner.invoke({});
  return { history: await runner.history(), state: await runner.state({ subgraphs: true }) };
}

describe("a look into a graph", () => {
  it("lists channels with types, and for each node triggers, reads and writers", () => {
    const view = inspect(graph.manifest);
    expect(view.channels.map(({ name, type }) => `${name}: ${type}`)).toEqual([
      "log: append",
      "x: last(concurrent)",
      "few: bounded(3)",
      "all: topic(accumulate, unique)",
      "own: custom(own)",
      "__start__: one step",
      "branch:to:a & b: one step",
      "branch:to:sub: one step",
      "branch:to:bad: one step",
      "branch:to:late: deferred until nothing else would run",
      "branch:to:end: deferred until nothing else would run",
      "join:sub+bad:end: all of sub, bad, deferred",
      "sends: a task each, in order",
    ]);
    const node = (name: string) => view.nodes.find((found) => found.name === name)!;
    expect(node("a & b")).toEqual({
      name: "a & b",
      triggers: ["branch:to:a & b"],
      reads: ["log", "x", "few", "all", "own"],
      writers: [
        "state: log, x, few, all, own",
        "edge: branch:to:bad",
        "route on: sub, __end__, late",
        "command: branch:to:late",
      ],
    });
    expect(node("end").triggers).toEqual(["branch:to:end", "join:sub+bad:end"]);
    expect(node("bad")).toMatchObject({
      reads: ["x"],
      writers: ["state: log, x, few, all, own", "join: join:sub+bad:end"],
    });
    expect(node("__start__")).toMatchObject({ reads: [], writers: ["state: log", "edge: branch:to:a & b"] });
    expect(node("sub").subgraph!.nodes.map(({ name }) => name)).toEqual(["__start__", "first", "ask"]);
    expect(view.channels.find(({ kind }) => kind === "join")!.wakes).toEqual(["end"]);
    const plainJoin = defineGraph({ name: "j", version: "1", state: { x: last() } })
      .node("a")
      .node("b")
      .edge(START, "a")
      .join(["a"], "b")
      .build();
    expect(inspect(plainJoin.manifest).channels.find(({ kind }) => kind === "join")!.type).toBe("all of a");
  });
});

describe("a picture", () => {
  it("knows how the nodes of a run stand", async () => {
    const { history, state } = await runOf();
    expect(nodeStates(history, state)).toEqual({
      __start__: "done",
      "a & b": "done",
      bad: "done",
      sub: "waiting",
      "sub|ask": "waiting",
    });
    const task = { ...state.tasks[0]!, interrupts: [] };
    const failed = { ...task, name: "x", error: { name: "Error", message: "boom" } };
    const next = { ...task, name: "y", done: false };
    expect(nodeStates([], { ...state, tasks: [failed, next] })).toMatchObject({ x: "failed", y: "next" });
  });

  it("in Mermaid shows edges, choices, joins and subgraphs, and colours the nodes of a run", async () => {
    const { history, state } = await runOf();
    const text = toMermaid(graph.manifest, {
      ...nodeStates(history, state),
      gone: "next",
      "bad|gone": "next",
    });
    expect(text.split("\n").slice(0, 8)).toEqual([
      "flowchart TD",
      '  n___start__(["START"])',
      '  n_a_32__38__32_b["a &amp; b"]',
      '  subgraph n_sub["sub"]',
      '    n_sub_124___start__(["START"])',
      '    n_sub_124_first["first"]',
      '    n_sub_124_ask["ask"]',
      '    n_sub_124___end__(["END"])',
    ]);
    for (const drawn of [
      "n_a_32__38__32_b --> n_bad",
      'n_a_32__38__32_b -.->|"yes"| n_sub',
      'n_sub -->|"all"| n_end',
      "n_a_32__38__32_b -.-> n_late",
      "n_end --> n___end__",
      "classDef waiting fill:#fdf0c8,stroke:#a67c00",
      "class n_sub_124_ask waiting",
      "class n_bad done",
    ])
      expect(text).toContain(`  ${drawn}\n`);
    expect(text).not.toContain("gone");
    expect(text).not.toContain("classDef failed");
    expect(toMermaid(child.manifest)).not.toContain("classDef");
  });

  it("without an end draws none", () => {
    const loop = defineGraph({ name: "loop", version: "1", state: { x: last() } })
      .node("a")
      .edge(START, "a")
      .edge("a", "a")
      .build();
    expect(toMermaid(loop.manifest)).not.toContain("END");
    expect(toDot(loop.manifest)).not.toContain("END");
  });

  it("in Graphviz' language quotes names and colours nodes", () => {
    const text = toDot(graph.manifest, { bad: "failed" });
    expect(text).toContain('digraph "say \\"hi\\"" {');
    expect(text).toContain('"bad" [label="bad", shape=box, fillcolor="#fbd9d5", color="#b3321f"];');
    expect(text).toContain('"a & b" -> "sub" [style=dashed, label="yes"];');
    expect(text).toContain('subgraph "cluster_sub" { label="sub"');
    expect(text).toContain('"sub|first" -> "sub|ask" [];');
  });

  it("as SVG is drawn in this process", async () => {
    const svg = await toSvg(graph.manifest, { bad: "failed" });
    expect(svg).toContain("<svg");
    expect(svg).toContain("#fbd9d5");
    expect(svg).toContain("a &amp; b");
    expect(await toSvg(child.manifest)).toContain("first");
  });
});
