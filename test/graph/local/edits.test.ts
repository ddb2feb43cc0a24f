import { describe, expect, it } from "vitest";
import {
  append,
  AS_COPY,
  AS_INPUT,
  createRunner,
  custom,
  defineGraph,
  END,
  implement,
  last,
  send,
  START,
  waitForEvent,
} from "../../../graph/index.js";

const line = defineGraph({
  name: "line",
  version: "1",
  state: { log: append<string>(), best: custom<number>("best", { default: 0 }), x: last<number>() },
})
  .node("a")
  .node("b")
  .node("c")
  .edge(START, "a")
  .edge("a", "b")
  .route("b", ["c", "a", END], { name: "on" })
  .build();

function lineRunner(
  on: (state: { log: readonly string[] }) => "c" | "a" = () => "c",
  best: (a: number, b: number) => number = Math.max,
) {
  const calls: string[] = [];
  const tag = (name: string) => () => {
    calls.push(name);
    return { log: name, best: calls.length };
  };
  const code = implement(line, {
    nodes: { a: tag("a"), b: tag("b"), c: tag("c") },
    routes: { on },
    reducers: { best },
  });
  return { runner: createRunner(code), calls };
}

describe("an update by hand", () => {
  it("applies reducers, edges and routes of its node as one step; the run then rests", async () => {
    const { runner, calls } = lineRunner(({ log }) => (log.includes("hand") ? "a" : "c"));
    await runner.invoke({}, { interruptBefore: ["b"] });
    await runner.update({ log: "hand", best: 9, ghost: 1 }, { asNode: "b" });
    expect(await runner.state()).toMatchObject({
      values: { log: ["a", "hand"], best: 9 },
      next: ["a"],
      step: 2,
      source: "update",
      status: "breakpoint",
    });
    expect((await runner.continue({ interruptBefore: ["b"] })).values).toMatchObject({
      log: ["a", "hand", "a"],
    });
    expect(calls).toEqual(["a", "a"]);
  });

  it("on a fresh thread is its input", async () => {
    const { runner } = lineRunner();
    await runner.update({ log: "in", x: 1 });
    expect(await runner.state()).toMatchObject({
      values: { log: ["in"], x: 1 },
      next: ["a"],
      step: 0,
      source: "update",
    });
    expect((await runner.continue()).values!.log).toEqual(["in", "a", "b", "c"]);
  });

  it("without a node is as the last writer; several in one step are ambiguous", async () => {
    const { runner } = lineRunner();
    await runner.invoke({}, { interruptAfter: ["a"] });
    await runner.update({ log: "as a" });
    expect((await runner.state()).next).toEqual(["b"]);
    const both = defineGraph({ name: "both", version: "1", state: { log: append<string>() } })
      .node("a")
      .node("b")
      .node("c")
      .edge(START, "a")
      .edge(START, "b")
      .join(["a", "b"], "c")
      .build();
    const second = createRunner(implement(both, { nodes: { a: () => null, b: () => null, c: () => null } }));
    await second.invoke({}, { interruptBefore: ["c"] });
    await expect(second.update({ log: "?" })).rejects.toMatchObject({
      name: "InvalidUpdateError",
      message: 'Ambiguous update, specify "asNode"',
    });
    await second.bulkUpdate([
      [
        { values: { log: "B" }, asNode: "b" },
        { values: { log: "A" }, asNode: "a" },
      ],
    ]);
    expect(await second.state()).toMatchObject({ values: { log: ["B", "A"] }, next: ["c"] });
  });

  it("counts what has finished in the running step, also through a reducer that is code", async () => {
    const graph = defineGraph({
      name: "g",
      version: "1",
      state: { log: append<string>(), best: custom<number>("best", { default: 0 }) },
    })
      .node("done")
      .node("ask", { interrupts: true, onError: true })
      .node("end")
      .edge(START, "done")
      .edge(START, "ask")
      .join(["done", "ask"], "end")
      .build();
    const runner = createRunner(
      implement(graph, {
        nodes: {
          done: () => ({ log: "done", best: 5 }),
          ask: (_s, context) => ({ log: String(context.interrupt("?")) }),
          end: () => ({ log: "end" }),
        },
        errorHandlers: { ask: () => null },
        reducers: { best: Math.max },
      }),
    );
    await runner.invoke({});
    expect((await runner.state()).values).toEqual({ log: ["done"], best: 5 });
    await runner.update({ log: "by hand", best: 3 }, { asNode: "ask" });
    expect(await runner.state()).toMatchObject({
      values: { log: ["done", "by hand"], best: 5 },
      next: ["end"],
    });
    expect((await runner.continue()).values!.log).toEqual(["done", "by hand", "end"]);
  });

  it("of null copies the checkpoint, as END drops what was to run", async () => {
    const { runner } = lineRunner();
    await runner.invoke({}, { interruptBefore: ["b"] });
    await runner.update(null);
    expect(await runner.state()).toMatchObject({ next: ["b"], step: 2, source: "update" });
    await runner.update(null, { asNode: END });
    expect(await runner.state()).toMatchObject({ next: [], step: 3, status: "done" });
    expect((await runner.continue()).values!.log).toEqual(["a"]);
  });

  it("as END counts what has finished, drops events and waits, unless a reducer that is code is still to run", async () => {
    const graph = defineGraph({ name: "g", version: "1", state: { log: append<string>() } })
      .node("done")
      .node("ask", { interrupts: true })
      .node("wait")
      .event("e")
      .edge(START, "done")
      .edge(START, "ask")
      .edge(START, "wait")
      .route("wait", ["done"], { name: "on" })
      .build();
    const runner = createRunner(
      implement(graph, {
        nodes: {
          done: () => ({ log: "done" }),
          ask: (_s, context) => ({ log: String(context.interrupt("?")) }),
          wait: () => null,
        },
        routes: { on: () => waitForEvent("e", "done") },
        events: { e: () => null },
      }),
    );
    await runner.invoke({});
    await runner.update(null, { asNode: END });
    expect(await runner.state()).toMatchObject({
      values: { log: ["done"] },
      next: [],
      waits: [],
      status: "done",
    });
  });

  it("as input begins anew at START, as a copy makes a sibling", async () => {
    const { runner } = lineRunner();
    await runner.update({ log: "fresh" }, { asNode: AS_INPUT });
    expect(await runner.state()).toMatchObject({ next: ["__start__"], step: -1, source: "input" });
    expect((await runner.continue()).values!.log).toEqual(["fresh", "a", "b", "c"]);
    await runner.update({ log: "more" }, { asNode: AS_INPUT });
    expect(await runner.state()).toMatchObject({ next: ["__start__"], step: 4 });
    const before = await runner.state();
    await runner.update(null, { asNode: AS_COPY });
    expect(await runner.state()).toMatchObject({
      source: "fork",
      step: 5,
      parentCheckpointId: before.parentCheckpointId,
    });
    await expect(runner.update(null, { asNode: AS_INPUT })).rejects.toThrow(
      "an update as input needs values",
    );
  });

  it("at an older checkpoint makes a branch; the old one stays", async () => {
    const { runner, calls } = lineRunner();
    await runner.invoke({});
    const history = await runner.history();
    const older = history.find(({ step }) => step === 1)!;
    const { checkpointId } = await runner.update(
      { log: "edit" },
      { checkpointId: older.checkpointId!, asNode: "a" },
    );
    expect(await runner.state({ checkpointId })).toMatchObject({
      values: { log: ["a", "edit"] },
      parentCheckpointId: older.checkpointId,
    });
    expect((await runner.continue({ checkpointId })).values!.log).toEqual(["a", "edit", "b", "c"]);
    expect(calls).toEqual(["a", "b", "c", "b", "c"]);
    expect(await runner.history({ limit: 2 })).toHaveLength(2);
    expect((await runner.history()).map(({ step, source }) => `${step}${source![0]}`)).toEqual([
      "4l",
      "3l",
      "2u",
      "3l",
      "2l",
      "1l",
      "0l",
      "-1i",
    ]);
  });

  it("of several steps makes them one after another", async () => {
    const { runner } = lineRunner();
    await runner.bulkUpdate([
      [{ values: { log: "in" }, asNode: AS_INPUT }],
      [{ values: { log: "start" }, asNode: START }],
      [{ values: { log: "a" }, asNode: "a" }],
    ]);
    expect(await runner.state()).toMatchObject({ values: { log: ["start", "a"] }, next: ["b"], step: 1 });
  });

  it("may be a command with sends and waits", async () => {
    const { runner } = lineRunner();
    await runner.invoke({}, { interruptBefore: ["b"] });
    await runner.update({ $command: { update: { log: "cmd" }, goto: [send("c", {}), "a"] } } as never, {
      asNode: "a",
    });
    expect((await runner.state()).next).toEqual(["c", "a", "b"]);
  });

  it("that can't be applied leaves nothing behind", async () => {
    const { runner } = lineRunner();
    await runner.invoke({}, { interruptBefore: ["b"] });
    const before = await runner.state();
    await expect(runner.update({}, { asNode: "no" })).rejects.toThrow('node "no" does not exist');
    await expect(runner.update("text", { asNode: "a" })).rejects.toMatchObject({
      code: "INVALID_GRAPH_NODE_RETURN_VALUE",
    });
    await expect(runner.bulkUpdate([])).rejects.toThrow("no steps");
    await expect(runner.bulkUpdate([[]])).rejects.toThrow("no entries");
    await expect(runner.bulkUpdate([[{ values: {} }, { values: {}, asNode: "a" }]])).rejects.toThrow(
      '"asNode" is required',
    );
    await expect(
      runner.bulkUpdate([
        [
          { values: {}, asNode: AS_INPUT },
          { values: {}, asNode: "a" },
        ],
      ]),
    ).rejects.toThrow("stands alone in its step");
    await expect(
      runner.bulkUpdate([
        [
          { values: { x: 1 }, asNode: "a" },
          { values: { x: 2 }, asNode: "b" },
        ],
      ]),
    ).rejects.toMatchObject({ code: "INVALID_CONCURRENT_GRAPH_UPDATE" });
    await expect(runner.update({}, { checkpointId: "no" })).rejects.toThrow('has no checkpoint "no"');
    expect(await runner.state()).toEqual(before);
  });

  it("whose route or reducer throws is an error of the call", async () => {
    for (const [make, message] of [
      [
        () =>
          lineRunner(() => {
            throw new Error("no way");
          }),
        "no way",
      ],
      [
        () =>
          lineRunner(
            () => "c",
            () => {
              throw new Error("no best");
            },
          ),
        "no best",
      ],
    ] as const) {
      const { runner } = make();
      await runner.invoke({}, { interruptBefore: ["a"] });
      await expect(runner.update({ best: 2 }, { asNode: "b" })).rejects.toThrow(message);
      expect((await runner.state()).source).toBe("loop");
    }
  });

  it("as the last node ends the run", async () => {
    const { runner, calls } = lineRunner();
    await runner.invoke({}, { interruptBefore: ["c"] });
    await runner.update({ log: "by hand" }, { asNode: "c" });
    expect(await runner.state()).toMatchObject({
      status: "done",
      next: [],
      values: { log: ["a", "b", "by hand"] },
    });
    expect((await runner.continue()).values!.log).toEqual(["a", "b", "by hand"]);
    expect(calls).toEqual(["a", "b"]);
  });

  it("in a subgraph fails with its route, leaves other questions open, and may bring it to its end", async () => {
    let leads: () => "y" = () => "y";
    const child = defineGraph({ name: "child", version: "1", state: { log: append<string>() } })
      .node("x", { interrupts: true })
      .node("y")
      .edge(START, "x")
      .route("x", ["y"], { name: "on" })
      .build();
    const graph = defineGraph({ name: "g", version: "1", state: { log: append<string>() } })
      .subgraph("one", child, { returns: "changed" })
      .subgraph("two", child, { returns: "changed" })
      .edge(START, "one")
      .edge(START, "two")
      .build();
    const sub = implement(child, {
      nodes: { x: (_state, context) => ({ log: String(context.interrupt("x?")) }), y: () => ({ log: "y" }) },
      routes: { on: () => leads() },
    });
    const runner = createRunner(implement(graph, { nodes: {}, subgraphs: { one: sub, two: sub } }));
    await runner.invoke({});
    const { tasks } = await runner.state({ subgraphs: true });
    const [one, two] = tasks.map((task) => task.state!.namespace);
    leads = () => {
      throw new Error("no way");
    };
    await expect(runner.update({ log: "edit" }, { namespace: one!, asNode: "x" })).rejects.toThrow("no way");
    expect((await runner.state()).questions).toHaveLength(2);
    leads = () => "y";
    await runner.update({ log: "end" }, { namespace: one!, asNode: "y" });
    expect(await runner.state()).toMatchObject({ status: "interrupted", questions: [{ namespace: two }] });
    await runner.update({ log: "end" }, { namespace: two!, asNode: "y" });
    expect(await runner.state()).toMatchObject({ status: "breakpoint", next: ["one", "two"], questions: [] });
    expect((await runner.continue()).values!.log).toEqual(["end", "end"]);
  });

  it("takes the place of a failed node, and of an error of the step", async () => {
    const clash = defineGraph({
      name: "clash",
      version: "1",
      state: { x: last<number>(), log: append<string>() },
    })
      .node("a")
      .node("b")
      .node("end")
      .edge(START, "a")
      .edge(START, "b")
      .join(["a", "b"], "end")
      .build();
    const runner = createRunner(
      implement(clash, { nodes: { a: () => ({ x: 1 }), b: () => ({ x: 2 }), end: () => ({ log: "end" }) } }),
    );
    await expect(runner.invoke({})).rejects.toMatchObject({ code: "INVALID_CONCURRENT_GRAPH_UPDATE" });
    expect(await runner.state()).toMatchObject({ next: ["a", "b"], status: "failed", values: { log: [] } });
    await expect(runner.continue()).rejects.toMatchObject({ code: "INVALID_CONCURRENT_GRAPH_UPDATE" });
    await runner.bulkUpdate([
      [
        { values: { x: 5 }, asNode: "a" },
        { values: {}, asNode: "b" },
      ],
    ]);
    expect((await runner.continue()).values).toEqual({ x: 5, log: ["end"] });
  });
});

describe("going on from an older checkpoint", () => {
  it("with a new input or a command begins a branch there", async () => {
    const { runner } = lineRunner();
    await runner.invoke({});
    const older = (await runner.history()).find(({ step }) => step === 1)!.checkpointId!;
    expect((await runner.invoke({ log: "new" }, { checkpointId: older })).values!.log).toEqual([
      "a",
      "new",
      "a",
      "b",
      "c",
    ]);
    const jump = await runner.request(
      { command: { update: { log: "jump" }, goto: "c" } },
      { checkpointId: older },
    );
    expect(jump.values!.log).toEqual(["a", "jump", "b", "c", "c"]);
  });

  it("that is the newest is like going on", async () => {
    const { runner } = lineRunner();
    const { checkpointId } = await runner.invoke({}, { interruptBefore: ["c"] });
    expect((await runner.fork(checkpointId)).values!.log).toEqual(["a", "b", "c"]);
    expect((await runner.history())[0]!.source).toBe("loop");
    const { checkpointId: end } = await runner.invoke(null);
    expect((await runner.fork(end)).checkpointId).toBe(end);
  });

  it("gives equal ids to equal requests, and others to others", async () => {
    const ids = async (requestId: string) => {
      const { runner } = lineRunner();
      await runner.invoke({}, { requestId });
      return (await runner.history()).map(({ checkpointId }) => checkpointId);
    };
    expect(await ids("one")).toEqual(await ids("one"));
    expect(await ids("one")).not.toEqual(await ids("two"));
  });
});

describe("the state of a thread", () => {
  it("without a run is empty", async () => {
    const { runner } = lineRunner();
    expect(await runner.state({ thread: "none" })).toMatchObject({
      values: {},
      next: [],
      step: null,
      runId: null,
      createdAt: null,
    });
    expect(await runner.history({ thread: "none" })).toEqual([]);
    await expect(runner.continue({ thread: "none" })).rejects.toMatchObject({ name: "EmptyInputError" });
    await expect(runner.invoke(null, { thread: "none" })).rejects.toMatchObject({ name: "EmptyInputError" });
  });
});
