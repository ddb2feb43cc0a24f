import { describe, expect, it } from "vitest";
import {
  append,
  bounded,
  custom,
  defineDynamicGraph,
  defineGraph,
  END,
  last,
  object,
  START,
  schema,
  type Channels,
  type Manifest,
} from "../../../graph/index.js";
import { compile } from "../../../graph/core/compile.js";
import { validate } from "../../../graph/core/validate.js";

const state: Channels = { n: last<number>(), log: append<string>() };
const begin = (more: object = {}) => defineDynamicGraph({ name: "g", version: "1", state, ...more });
const oneNode = () => begin().node("a").edge(START, "a");

describe("a graph is refused, naming the place, for", () => {
  const refused: readonly [string, () => unknown, string][] = [
    [
      "a graph's name",
      () => defineDynamicGraph({ name: "a:b", version: "1", state }),
      'name of the graph is "a:b"',
    ],
    ["a version", () => defineDynamicGraph({ name: "g", version: "", state }), 'version of graph "g" is ""'],
    [
      "no state",
      () => defineDynamicGraph({ name: "g", version: "1", state: {} }).node("a").edge(START, "a").build(),
      "has no state",
    ],
    ["no nodes", () => begin().build(), "has no nodes"],
    ["an empty name", () => begin().node(""), "allowed is a text that isn't empty"],
    ["a reserved name", () => begin().node("__x"), 'names that begin with "__" are reserved'],
    ["a reserved character", () => begin().node("a|b"), "control characters are reserved"],
    ["a control character", () => begin().node("a\nb"), "control characters are reserved"],
    ["a node's name twice", () => begin().node("a").node("a"), 'node "a" is there already'],
    ["an event's name twice", () => begin().event("e").event("e"), 'event "e" is there already'],
    [
      "a route's name twice",
      () => oneNode().route("a", ["a"]).route("a", [END]),
      'route "a" from "a" has the name of another',
    ],
    [
      "a node with a key's name",
      () => begin().node("n").edge(START, "n").build(),
      'node "n" has the name of a state key',
    ],
    [
      "a reserved state key",
      () =>
        begin({ state: { __n: last() } })
          .node("a")
          .edge(START, "a")
          .build(),
      'state key "__n"',
    ],
    [
      "an input key",
      () =>
        begin({ input: ["m"] })
          .node("a")
          .edge(START, "a")
          .build(),
      'input of graph "g" names "m"',
    ],
    [
      "an output key",
      () =>
        begin({ output: ["m"] })
          .node("a")
          .edge(START, "a")
          .build(),
      'output of graph "g" names "m"',
    ],
    [
      "a node's input key",
      () =>
        begin()
          .node("a", { input: ["m"] as never[] })
          .edge(START, "a")
          .build(),
      'input of node "a" names "m"',
    ],
    ["an edge's target", () => oneNode().edge("a", "b").build(), 'edge "a" → "b" leads to unknown node "b"'],
    ["an edge's source", () => oneNode().edge("b", "a").build(), 'edge "b" → "a" begins at unknown node "b"'],
    ["an edge from END", () => oneNode().edge(END, "a").build(), "begins at END"],
    ["an edge to START", () => oneNode().edge("a", START).build(), "ends at START"],
    ["an edge from START to END", () => oneNode().edge(START, END).build(), "with nothing to do"],
    ["a route's target", () => oneNode().route("a", ["b"]).build(), 'route "a" leads to unknown node "b"'],
    ["a route's source", () => oneNode().route("b", ["a"]).build(), 'route "b" begins at unknown node'],
    ["a route to START", () => oneNode().route("a", [START]).build(), 'route "a" leads to START'],
    ["a route without targets", () => oneNode().route("a", []).build(), 'route "a" declares no targets'],
    ["a route with no list at all", () => oneNode().route("a", undefined as never), "declares no targets"],
    [
      "a command's target",
      () =>
        begin()
          .node("a", { ends: ["b"] })
          .edge(START, "a")
          .build(),
      'ends of node "a" leads to unknown node "b"',
    ],
    ["an empty join", () => oneNode().join([], "a").build(), 'join into "a" waits for no node'],
    ["a join that names a node twice", () => oneNode().join(["a", "a"], "a").build(), "names a node twice"],
    ["a join of START", () => oneNode().join([START], "a").build(), "waits for START"],
    ["a join into END", () => oneNode().join(["a"], END).build(), "must lead to a node"],
    ["a join of an unknown node", () => oneNode().join(["b"], "a").build(), 'begins at unknown node "b"'],
    ["a join into an unknown node", () => oneNode().join(["a"], "b").build(), 'leads to unknown node "b"'],
    [
      "a join that waits for itself",
      () => oneNode().node("b").join(["a", "b"], "b").build(),
      "can't complete",
    ],
    [
      "a node out of reach",
      () => oneNode().node("b").build(),
      `node "b" of graph "g" can't be reached from START`,
    ],
    [
      "a circle out of reach",
      () => oneNode().node("b").node("c").edge("b", "c").edge("c", "b").build(),
      "can't be reached",
    ],
    [
      "a terminal node with an edge",
      () => oneNode().node("b", { terminal: true }).edge("a", "b").edge("b", "a").build(),
      'node "b" is terminal, but leads on to "a"',
    ],
    [
      "a terminal node with a join",
      () => oneNode().node("b", { terminal: true }).edge("a", "b").join(["b"], "a").build(),
      "is terminal",
    ],
    [
      "a terminal node with a route",
      () => oneNode().node("b", { terminal: true }).edge("a", "b").route("b", ["a"]).build(),
      "is terminal",
    ],
    [
      "a terminal node with ends",
      () =>
        oneNode()
          .node("b", { terminal: true, ends: ["a"] })
          .edge("a", "b")
          .build(),
      "is terminal",
    ],
    [
      "a breakpoint",
      () =>
        begin({ interruptBefore: ["b"] })
          .node("a")
          .edge(START, "a")
          .build(),
      'interruptBefore of graph "g" names unknown node "b"',
    ],
    [
      "a later breakpoint",
      () =>
        begin({ interruptAfter: ["b"] })
          .node("a")
          .edge(START, "a")
          .build(),
      "interruptAfter",
    ],
    [
      "a question that nobody could answer",
      () => begin({ resumable: false }).node("a", { interrupts: true }).edge(START, "a").build(),
      "isn't resumable",
    ],
    [
      "an edge to a node with an argument",
      () =>
        begin()
          .node("a", { arg: schema({ type: "object" }) })
          .edge(START, "a")
          .build(),
      "reached by send only",
    ],
    [
      "a bad limit",
      () =>
        begin({ state: { n: bounded(0) } })
          .node("a")
          .edge(START, "a")
          .build(),
      'state key "n" has limit 0',
    ],
    [
      "an unnamed reducer",
      () =>
        begin({ state: { n: custom("") } })
          .node("a")
          .edge(START, "a")
          .build(),
      'reducer of state key "n"',
    ],
    [
      "an unknown reducer",
      () =>
        begin({ state: { n: { rule: { reducer: "mean" } } } })
          .node("a")
          .edge(START, "a")
          .build(),
      'has reducer "mean"; allowed are last, append',
    ],
    [
      "a bad duration",
      () => begin().node("a", { timeout: "5 minutes" as never }),
      'timeout of node "a" is "5 minutes"',
    ],
    ["a negative duration", () => begin().node("a", { timeout: -1 }), "timeout of node"],
    ["an empty time-out", () => begin().node("a", { timeout: {} }), "has neither run nor idle"],
    ["bad attempts", () => begin().node("a", { retry: { attempts: 0 } }), "retry.attempts"],
    [
      "an argument's schema",
      () =>
        begin()
          .node("a", { arg: schema({ color: "red" }) })
          .route(START, ["a"])
          .build(),
      'argument of node "a" has the schema keyword "color"',
    ],
    [
      "a question's schema",
      () =>
        begin()
          .node("a", { interrupts: { schema: schema({ color: "red" }) } })
          .edge(START, "a")
          .build(),
      "interrupts.schema",
    ],
    [
      "an event's schema",
      () =>
        begin()
          .node("a")
          .edge(START, "a")
          .event("e", { schema: schema({ color: "red" }) })
          .build(),
      'payload of event "e"',
    ],
    [
      "a schema that can't say itself",
      () => begin().node("a", { arg: { "~standard": {} } as never }),
      "can't say itself as JSON Schema",
    ],
  ];

  it.each(refused)("%s", (_what, build, message) => {
    expect(build).toThrow(message);
  });

  it("a subgraph without memory that may ask, however deep", () => {
    const inner = begin().node("ask", { interrupts: true }).edge(START, "ask").build();
    const middle = begin().subgraph("inner", inner).edge(START, "inner").build();
    const outer = begin().subgraph("middle", middle, { memory: "none" }).edge(START, "middle");
    expect(() => outer.build()).toThrow('node "inner|ask" of subgraph "middle" may ask');
    const kept = begin({ resumable: false }).subgraph("middle", middle).edge(START, "middle");
    expect(() => kept.build()).toThrow("may ask, but the subgraph has no memory");
    expect(begin().subgraph("middle", middle).edge(START, "middle").build().name).toBe("g");
  });

  it("an object-state graph whose schema isn't understood", () => {
    const build = () =>
      defineGraph({ name: "g", version: "1", state: object(schema<{ n: number }>({ color: "red" })) })
        .node("a")
        .edge(START, "a")
        .build();
    expect(build).toThrow('state of graph "g" has the schema keyword "color"');
  });

  it("a manifest of another format", () => {
    const { manifest } = oneNode().build();
    expect(() => compile({ ...manifest, format: 2 as 1 })).toThrow("manifest has format 2");
  });
});

describe("a graph is taken with", () => {
  it("a node that only a command, a route, a join or an error handler leads to", () => {
    const graph = begin()
      .node("a", { ends: ["b", END] })
      .node("b", { onError: true })
      .node("c")
      .node("d")
      .edge(START, "a")
      .join(["a", "b"], "c")
      .edge("a", END)
      .build();
    expect(Object.keys(graph.manifest.nodes)).toEqual(["a", "b", "c", "d"]);
  });

  it("the same edge twice, as one", () => {
    expect(oneNode().edge(START, "a").build().manifest.edges).toEqual([[START, "a"]]);
  });

  it("breakpoints at all nodes", () => {
    const graph = begin({ interruptBefore: "*", interruptAfter: ["a"] })
      .node("a")
      .edge(START, "a")
      .build();
    expect(graph.manifest).toMatchObject({ interruptBefore: "*", interruptAfter: ["a"] });
  });

  it("a label map whose answers lead to nodes", () => {
    const { manifest } = oneNode().route("a", { again: "a", stop: END }, { name: "r" }).build();
    expect(manifest.routes).toEqual([{ name: "r", from: "a", targets: { again: "a", stop: END } }]);
  });

  it("a manifest that went through JSON", () => {
    const { manifest } = oneNode().build();
    expect(() => validate(JSON.parse(JSON.stringify(manifest)) as Manifest)).not.toThrow();
  });
});
