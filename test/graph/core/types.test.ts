import { describe, expect, test } from "vitest";
import { expectTypeOf } from "expect-type";
import { z } from "zod";
import {
  append,
  command,
  custom,
  defineGraph,
  END,
  implement,
  last,
  messages,
  object,
  overwrite,
  replace,
  send,
  START,
  type StateOf,
  type TaskContext,
} from "../../../graph/index.js";

const trip = defineGraph({
  name: "trip",
  version: "1",
  state: {
    total: last<number>(),
    log: append<string>(),
    messages: messages(),
    best: custom<number, number>("best"),
  },
  input: ["total"],
  output: ["log"],
})
  .node("plan", { retry: { attempts: 3 }, timeout: "30s" })
  .node("book", { arg: z.object({ item: z.string() }), tool: true })
  .node("check", { input: ["log"], onError: true })
  .node("sum")
  .event("changed", { schema: z.object({ total: z.number() }) })
  .edge(START, "plan")
  .route("plan", ["book", "check", END])
  .route("check", { again: "plan", stop: END }, { name: "after" })
  .join(["book", "check"], "sum")
  .edge("sum", END)
  .build();

type TripState = StateOf<(typeof trip)["~types"] & object>;

const code = implement(trip, {
  nodes: {
    plan: async (state, context) => {
      expectTypeOf(state.total).toEqualTypeOf<number>();
      expectTypeOf(state.log).toEqualTypeOf<readonly string[]>();
      expectTypeOf(context).toEqualTypeOf<TaskContext<unknown>>();
      return { log: ["p"], total: 1 };
    },
    book: (argument) => {
      expectTypeOf(argument).toEqualTypeOf<{ item: string }>();
      return command({ update: { log: argument.item }, goto: "sum" });
    },
    check: (state) => {
      expectTypeOf(state).toEqualTypeOf<{ readonly log: readonly string[] }>();
      return { log: overwrite(["x"]) };
    },
    sum: () => null,
  },
  routes: {
    plan: (state) => state.log.map((item) => send("book", { item })),
    after: () => "again",
  },
  events: {
    changed: (_state, payload) => {
      expectTypeOf(payload).toEqualTypeOf<{ total: number }>();
      return { total: payload.total };
    },
  },
  errorHandlers: { check: (_input, error) => ({ log: `${error.node}: ${error.message}` }) },
  reducers: { best: (value, update) => Math.max(value, update) },
});

describe("the types of a graph", () => {
  test("follow from its definition", () => {
    expectTypeOf<TripState["total"]>().toEqualTypeOf<number>();
    expect(code.graph.manifest.nodes).toHaveProperty("plan");
  });

  test("refuse a missing, a surplus and a wrong part of the code", () => {
    const small = defineGraph({ name: "small", version: "1", state: { n: last<number>() } })
      .node("a")
      .edge(START, "a")
      .build();
    // @ts-expect-error: the node's function is missing
    expect(() => implement(small, { nodes: {} })).toThrow("lacks nodes.a");
    // @ts-expect-error: there is no node b
    expect(() => implement(small, { nodes: { a: () => null, b: () => null } })).toThrow("has nodes.b");
    // @ts-expect-error: n is a number
    implement(small, { nodes: { a: () => ({ n: "text" }) } });
    // @ts-expect-error: there is no key m
    implement(small, { nodes: { a: () => ({ m: 1 }) } });
    // @ts-expect-error: the graph has no routes
    expect(() => implement(small, { nodes: { a: () => null }, routes: { a: () => END } })).toThrow(
      "has routes.a",
    );
  });

  test("refuse unknown nodes in edges, routes and joins", () => {
    const builder = defineGraph({ name: "small", version: "1", state: { n: last<number>() } }).node("a");
    // @ts-expect-error: there is no node b
    builder.edge("a", "b");
    // @ts-expect-error: there is no node b
    builder.route("a", ["b"]);
    // @ts-expect-error: there is no node b
    builder.join(["a", "b"], "a");
    // @ts-expect-error: there is no key m
    defineGraph({ name: "small", version: "1", state: { n: last<number>() }, input: ["m"] });
    expect(() => builder.build()).toThrow("unknown node");
  });

  test("refuse a wrong route answer, send argument and event payload", () => {
    const graph = defineGraph({ name: "small", version: "1", state: { n: last<number>() } })
      .node("a")
      .node("w", { arg: z.object({ item: z.number() }) })
      .event("e", { schema: z.object({ ok: z.boolean() }) })
      .edge(START, "a")
      .route("a", ["w", END])
      .build();
    const nodes = { a: () => null, w: () => null };
    const events = { e: () => null };
    // @ts-expect-error: "b" is none of the answers
    implement(graph, { nodes, events, routes: { a: () => "b" } });
    // @ts-expect-error: the argument's item is a number
    implement(graph, { nodes, events, routes: { a: () => send("w", { item: "one" }) } });
    implement(graph, {
      nodes,
      routes: { a: () => send("w", { item: 1 }) },
      // @ts-expect-error: the payload has no field "no"
      events: { e: (_state, payload) => ({ n: payload.no }) },
    });
    expect(Object.keys(graph.manifest.events)).toEqual(["e"]);
  });

  test("of an object-state graph are those of its model", () => {
    const graph = defineGraph({
      name: "model",
      version: "1",
      state: object(z.object({ n: z.number(), s: z.string() })),
    })
      .node("a")
      .node("b")
      .edge(START, "a")
      .edge("a", "b")
      .build();
    implement(graph, {
      nodes: {
        a: (state) => {
          expectTypeOf(state).toEqualTypeOf<{ n: number; s: string }>();
          return { n: state.n + 1 };
        },
        b: (state) => replace({ n: 0, s: state.s }),
      },
    });
    // @ts-expect-error: s is a text
    implement(graph, { nodes: { a: () => ({ s: 1 }), b: () => null } });
    expect(graph.manifest.mode).toBe("object");
  });
});
