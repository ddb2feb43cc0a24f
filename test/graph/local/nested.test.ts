import { describe, expect, it } from "vitest";
import {
  append,
  command,
  createMemoryCheckpointer,
  createRunner,
  custom,
  defineGraph,
  END,
  implement,
  last,
  PARENT,
  schema,
  send,
  START,
  type GraphCode,
  type GraphTypes,
  type TaskContext,
} from "../../../graph/index.js";
import { compile } from "../../../graph/core/compile.js";
import { expireQuestion } from "../../../graph/core/resume.js";
import { apply } from "../../../graph/core/apply.js";
import { plan } from "../../../graph/core/plan.js";
import { start } from "../../../graph/core/verbs.js";

const state = { log: append<string>() };
const child = defineGraph({ name: "child", version: "1", state })
  .node("first")
  .node("left", { interrupts: true })
  .node("right", { interrupts: true })
  .node("leave")
  .edge(START, "first")
  .route("first", ["left", "right", "leave", END])
  .build();

function childCode(
  calls: string[],
  next: readonly ("left" | "right" | "leave" | typeof END)[],
  fails = { times: 0 },
) {
  return implement(child, {
    nodes: {
      first: () => {
        calls.push("first");
        return { log: "first" };
      },
      left: (_state, context) => ({ log: `left ${context.interrupt<string>("left?")}` }),
      right: (_state, context) => ({ log: `right ${context.interrupt<string>("right?")}` }),
      leave: () => {
        if (fails.times-- > 0) throw new Error("not yet");
        return command({ graph: PARENT, update: { log: "from the child" }, goto: "after" });
      },
    },
    routes: { first: () => next },
  });
}

/** A graph with one node that runs the child by itself. */
function callerOf(inner: GraphCode<GraphTypes>, calls: string[], options: { attempts?: number } = {}) {
  const graph = defineGraph({ name: "caller", version: "1", state })
    .node("call", {
      interrupts: true,
      ends: ["after"],
      retry: { attempts: options.attempts ?? 1, initialInterval: 1, jitter: false },
    })
    .node("after")
    .edge(START, "call")
    .build();
  return implement(graph, {
    nodes: {
      call: async (_state, context: TaskContext) => {
        calls.push("call");
        const { log } = (await context.runGraph(inner, { log: "in" } as never)) as { log: readonly string[] };
        return { log: [`child: ${log.join(", ")}`] };
      },
      after: () => ({ log: "after" }),
    },
  });
}

describe("a graph that a node runs by itself", () => {
  it("gives its output", async () => {
    const calls: string[] = [];
    const runner = createRunner(callerOf(childCode(calls, [END]) as never, calls));
    expect((await runner.invoke({})).values!.log).toEqual(["child: in, first"]);
    expect(calls).toEqual(["call", "first"]);
  });

  it("stops its node when it asks; answers reach it one by one, and what finished doesn't run again", async () => {
    const calls: string[] = [];
    const runner = createRunner(callerOf(childCode(calls, ["left", "right"]) as never, calls));
    const asked = await runner.invoke({});
    expect(asked).toMatchObject({
      status: "interrupted",
      questions: [{ value: "left?", node: "call" }, { value: "right?" }],
    });
    const [left, right] = asked.questions;
    const half = await runner.resume({ answers: { [right!.id]: "R" } });
    expect(half.questions.map(({ id }) => id)).toEqual([left!.id]);
    const whole = await runner.resume({ value: "L" });
    expect(whole.values!.log).toEqual(["child: in, first, left L, right R"]);
    expect(calls).toEqual(["call", "first", "call", "call"]);
  });

  it("goes on where it failed when its node is tried again, also by a continue", async () => {
    for (const attempts of [2, 1]) {
      const calls: string[] = [];
      const runner = createRunner(
        callerOf(childCode(calls, ["leave"], { times: 1 }) as never, calls, { attempts }),
      );
      const result = attempts === 2 ? runner.invoke({}) : runner.invoke({}).catch(() => runner.continue());
      expect((await result).values!.log).toEqual(["from the child", "after"]);
      expect(calls).toEqual(["call", "first", "call"]);
    }
  });

  it("gives a command for the graph around it to its node", async () => {
    const calls: string[] = [];
    const runner = createRunner(callerOf(childCode(calls, ["leave"]) as never, calls));
    expect((await runner.invoke({})).values!.log).toEqual(["from the child", "after"]);
  });

  it("shows its chunks under its node, and is stopped by its node's end", async () => {
    const calls: string[] = [];
    const runner = createRunner(callerOf(childCode(calls, [END]) as never, calls));
    const chunks: string[] = [];
    for await (const { mode, namespace, data } of runner.stream(
      { input: {} },
      { modes: ["updates"], subgraphs: true },
    ))
      chunks.push(
        `${mode} ${namespace.map((part) => part.split(":")[0]).join("/")} ${Object.keys(data as object).join()}`,
      );
    expect(chunks).toEqual(["updates call first", "updates  call"]);
  });

  it("may not rest for a reason of its own, nor run on for ever", async () => {
    const stops = defineGraph({ name: "stops", version: "1", state, interruptBefore: ["x"] })
      .node("x")
      .edge(START, "x")
      .build();
    const loops = defineGraph({ name: "loops", version: "1", state })
      .node("x")
      .edge(START, "x")
      .edge("x", "x")
      .build();
    const run = (graph: typeof loops) =>
      createRunner(callerOf(implement(graph, { nodes: { x: () => null } }) as never, [])).invoke({});
    await expect(run(stops as never)).rejects.toThrow("came to rest (breakpoint)");
    await expect(run(loops)).rejects.toMatchObject({ name: "GraphRecursionError" });
  });

  it("may not ask when its node didn't declare that it may", async () => {
    const graph = defineGraph({ name: "shy", version: "1", state }).node("call").edge(START, "call").build();
    const code = implement(graph, {
      nodes: { call: async (_state, context) => void (await context.runGraph(childCode([], ["left"]), {})) },
    });
    await expect(createRunner(code).invoke({})).rejects.toMatchObject({ code: "UNDECLARED_INTERRUPT" });
  });
});

describe("a subgraph", () => {
  const parentOf = (options: Parameters<ReturnType<typeof parent>["subgraph"]>[2] = {}) =>
    parent().subgraph("sub", child, { ends: ["after"], ...options } as never);
  function parent() {
    return defineGraph({ name: "parent", version: "1", state: { ...state, turn: last<number>() } }).node(
      "after",
    );
  }

  it("with memory per call begins anew at each call, with memory per thread goes on", async () => {
    for (const [memory, log] of [
      ["call", ["in", "first"]],
      ["thread", ["in", "first", "in", "first"]],
    ] as const) {
      const graph = parentOf({ memory }).edge(START, "sub").edge("sub", "after").build();
      const seen: unknown[] = [];
      const runner = createRunner(
        implement(graph, {
          nodes: { after: ({ log }) => (seen.push(log), { log: { $overwrite: [] } }) },
          subgraphs: { sub: childCode([], [END]) },
        }),
      );
      await runner.invoke({ log: "in" });
      await runner.invoke({ log: { $overwrite: ["in"] } });
      expect(seen[1]).toEqual(["in", ...log]);
    }
  });

  it("with memory per thread can't run twice in one step", async () => {
    const graph = parentOf({ memory: "thread" }).route(START, ["sub", "after"]).build();
    const runner = createRunner(
      implement(graph, {
        nodes: { after: () => null },
        routes: { [START]: () => [send("sub", {}), send("sub", {})] },
        subgraphs: { sub: childCode([], ["left"]) },
      }),
    );
    await expect(runner.invoke({})).rejects.toThrow(
      `keeps its memory per thread, so it can't run twice in one step`,
    );
  });

  it("without memory begins anew after a failure, with memory goes on", async () => {
    const plainChild = defineGraph({ name: "plain", version: "1", state })
      .node("x")
      .node("y")
      .edge(START, "x")
      .edge("x", "y")
      .build();
    for (const [memory, expected] of [
      ["none", ["x", "y", "x", "y"]],
      ["call", ["x", "y", "y"]],
    ] as const) {
      const calls: string[] = [];
      const graph = parent()
        .subgraph("sub", plainChild, { memory })
        .edge(START, "sub")
        .edge("sub", "after")
        .build();
      const sub = implement(plainChild, {
        nodes: {
          x: () => void calls.push("x"),
          y: () => {
            calls.push("y");
            if (calls.filter((call) => call === "y").length === 1) throw new Error("boom");
          },
        },
      });
      const runner = createRunner(implement(graph, { nodes: { after: () => null }, subgraphs: { sub } }));
      await expect(runner.invoke({})).rejects.toThrow("boom");
      expect((await runner.state({ subgraphs: true })).tasks).toMatchObject([
        { name: "sub", error: { message: "boom" } },
      ]);
      expect((await runner.continue()).status).toBe("done");
      expect(calls).toEqual(expected);
    }
  });

  it("may return only what it changed, so that a shared list isn't doubled", async () => {
    const graph = parentOf({ returns: "changed" }).edge(START, "sub").edge("sub", "after").build();
    const quiet = implement(child, {
      nodes: { first: () => null, left: () => null, right: () => null, leave: () => null },
      routes: { first: () => END },
    });
    const run = (sub: typeof quiet) =>
      createRunner(implement(graph, { nodes: { after: () => null }, subgraphs: { sub } })).invoke({
        log: "in",
      });
    expect((await run(quiet)).values!.log).toEqual(["in"]);
    expect((await run(childCode([], [END]))).values!.log).toEqual(["in", "in", "first"]);
  });

  it("has its routes run on what it returned, and its failure handled beside it", async () => {
    const graph = parent()
      .subgraph("sub", child, { onError: true, input: ["log"], ends: ["after"] })
      .node("again")
      .edge(START, "sub")
      .route("sub", ["after", "again"], { name: "on" })
      .build();
    const make = (next: "leave" | typeof END, times = 0) =>
      createRunner(
        implement(graph, {
          nodes: { after: () => ({ log: "after" }), again: () => ({ log: "again" }) },
          routes: { on: ({ log }) => (log.includes("first") ? "again" : "after") },
          errorHandlers: {
            sub: (_input, error) =>
              command({ update: { log: `${error.node}: ${error.message}` }, goto: "after" }),
          },
          subgraphs: { sub: childCode([], [next], { times }) },
        }),
      );
    expect((await make(END).invoke({})).values!.log).toEqual(["first", "again"]);
    expect((await make("leave", 9).invoke({})).values!.log).toEqual(["sub: not yet", "after"]);
    expect((await make("leave").invoke({})).values!.log).toEqual(["from the child", "after"]);
  });

  it("that is durable is a task of its own for a host, whose outcome is the node's", () => {
    const graph = parentOf({ durable: true, onError: true }).edge(START, "sub").edge("sub", "after").build();
    const program = compile(graph.manifest);
    const { checkpoint } = start(program, undefined, { log: "in" }, { requestId: "r", run: "run" });
    const [task] = plan(program, checkpoint);
    expect(task).toMatchObject({ kind: "child", name: "sub", input: { log: ["in"] } });
    const result = { writes: [["log", ["done"]]] as const, goto: [], sends: [], waits: [] };
    const { checkpoint: next } = apply(program, checkpoint, [
      { namespace: "", taskId: task!.id, record: { status: "done", result } },
    ]);
    expect(plan(program, next)).toMatchObject([{ name: "after", input: { log: ["in", "done"] } }]);
  });

  it("runs in this process when it is durable, too", async () => {
    const graph = parentOf({ durable: true }).edge(START, "sub").build();
    const runner = createRunner(
      implement(graph, { nodes: { after: () => null }, subgraphs: { sub: childCode([], [END]) } }),
    );
    expect((await runner.invoke({})).values!.log).toEqual(["first"]);
    const { subgraphs: _none, ...bare } = { nodes: { after: () => null }, subgraphs: {} };
    await expect(createRunner(implement(graph, bare as never)).invoke({})).rejects.toThrow(
      "lacks subgraphs.sub",
    );
  });

  it("is stopped by its own breakpoints and step limit", async () => {
    const looping = defineGraph({ name: "looping", version: "1", state, interruptAfter: ["x"] })
      .node("x")
      .edge(START, "x")
      .edge("x", "x")
      .build();
    const graph = parent().subgraph("sub", looping).edge(START, "sub").edge("sub", "after").build();
    const runner = createRunner(
      implement(graph, {
        nodes: { after: () => null },
        subgraphs: { sub: implement(looping, { nodes: { x: () => ({ log: "x" }) } }) },
      }),
      { recursionLimit: 3 },
    );
    expect((await runner.invoke({})).status).toBe("breakpoint");
    expect((await runner.continue()).status).toBe("breakpoint");
    const endless = defineGraph({ name: "endless", version: "1", state })
      .node("x")
      .edge(START, "x")
      .edge("x", "x")
      .build();
    const outer = parent().subgraph("sub", endless).edge(START, "sub").edge("sub", "after").build();
    const second = createRunner(
      implement(outer, {
        nodes: { after: () => null },
        subgraphs: { sub: implement(endless, { nodes: { x: () => null } }) },
      }),
      { recursionLimit: 3 },
    );
    await expect(second.invoke({})).rejects.toMatchObject({
      name: "GraphRecursionError",
      code: "GRAPH_RECURSION_LIMIT",
    });
    await expect(second.continue()).rejects.toMatchObject({ name: "GraphRecursionError" });
  });

  it("has its state read and edited on its own", async () => {
    const graph = parentOf().edge(START, "sub").build();
    const runner = createRunner(
      implement(graph, { nodes: { after: () => null }, subgraphs: { sub: childCode([], ["left"]) } }),
    );
    await runner.invoke({});
    const [task] = (await runner.state({ subgraphs: true })).tasks;
    const { namespace } = task!.state!;
    expect(task!.state).toMatchObject({ values: { log: ["first"] }, next: ["left"] });
    await runner.update({ log: "edit" }, { namespace });
    expect(await runner.state({ namespace })).toMatchObject({
      values: { log: ["first", "edit"] },
      next: ["left"],
      source: "update",
    });
    expect((await runner.resume({ value: "L" })).values!.log).toEqual(["first", "edit", "left L"]);
    expect((await runner.state({ namespace })).checkpointId).toBeNull();
    await expect(runner.update({}, { namespace })).rejects.toThrow(`has no state at "${namespace}"`);
  });
});

describe("a question", () => {
  const asking = defineGraph({
    name: "asking",
    version: "1",
    state: { ...state, best: custom<number>("best", { default: 0 }) },
  })
    .node("ask", { interrupts: { schema: schema({ type: "string" }), deadline: "1h" } })
    .node("end")
    .edge(START, "ask")
    .edge("ask", "end")
    .build();
  const code = (ask: (context: TaskContext) => unknown) =>
    implement(asking, {
      nodes: { ask: (_state, context) => ({ log: String(ask(context)) }), end: () => null },
      reducers: { best: Math.max },
    });

  it("carries the schema and deadline of its node, or its own, and refuses an answer that doesn't fit", async () => {
    const runner = createRunner(code((context) => context.interrupt("name?")));
    const { questions } = await runner.invoke({});
    expect(questions).toMatchObject([
      { value: "name?", schema: { type: "string" }, deadlineMs: 3_600_000, node: "ask" },
    ]);
    await expect(runner.resume({ value: 1 })).rejects.toMatchObject({
      name: "GraphValueError",
      code: "INVALID_ANSWER",
    });
    await expect(runner.resume({ answers: {} })).rejects.toMatchObject({ name: "UnknownInterruptError" });
    await expect(runner.resume({ answers: { no: 1 } })).rejects.toThrow('question "no" isn\'t open');
    await expect(runner.resume({ value: null })).rejects.toMatchObject({ name: "EmptyInputError" });
    expect((await runner.resume({ answers: { [questions[0]!.id]: "Ann" } })).values!.log).toEqual(["Ann"]);
    const own = createRunner(
      code((context) =>
        context.interrupt("n?", { schema: schema<number>({ type: "number" }), deadline: "2s" }),
      ),
    );
    expect((await own.invoke({})).questions).toMatchObject([
      { schema: { type: "number" }, deadlineMs: 2000 },
    ]);
    const wrong = createRunner(
      code((context) => context.interrupt("n?", { schema: schema({ color: "red" }) })),
    );
    await expect(wrong.invoke({})).rejects.toThrow('schema keyword "color"');
  });

  it("still counts when the code catches what stops it", async () => {
    const runner = createRunner(
      code((context) => {
        try {
          return context.interrupt("name?");
        } catch {
          return "swallowed";
        }
      }),
    );
    expect((await runner.invoke({})).questions).toHaveLength(1);
  });

  it("whose deadline has come is withdrawn: the call in the node throws", async () => {
    const checkpointer = createMemoryCheckpointer();
    const runner = createRunner(
      code((context) => context.interrupt("name?")),
      { checkpointer },
    );
    const { questions } = await runner.invoke({});
    const { latest } = (await checkpointer.load("default"))!;
    const program = compile(asking.manifest, { inlineDurable: true });
    const { checkpoint } = expireQuestion(program, latest, questions[0]!.id);
    expect(plan(program, checkpoint)).toMatchObject([{ name: "ask", answers: [{ expired: true }] }]);
    await checkpointer.save("default", checkpoint);
    await expect(runner.continue()).rejects.toMatchObject({ name: "DeadlineExceededError" });
    expect(() => expireQuestion(program, checkpoint, questions[0]!.id)).toThrow("isn't open; open are: none");
  });

  it("can be answered before it is asked, when one node is next that may ask", async () => {
    const runner = createRunner(code((context) => context.interrupt("name?")));
    await runner.invoke({}, { interruptBefore: ["ask"] });
    expect((await runner.resume({ value: "Bob" })).values!.log).toEqual(["Bob"]);
    await expect(runner.resume({ value: "late" })).rejects.toThrow(
      "no question is open, and no task is next that may ask",
    );
  });

  it("can't be answered before it is asked by a value alone, when several nodes are next that may ask", async () => {
    const graph = defineGraph({ name: "two", version: "1", state: { log: append<string>() } })
      .node("a", { interrupts: true })
      .node("b", { interrupts: true })
      .edge(START, "a")
      .edge(START, "b")
      .build();
    const asks = (
      _input: unknown,
      context: { interrupt(value: string): unknown; readonly node: string },
    ) => ({
      log: `${context.node} ${String(context.interrupt("name?"))}`,
    });
    const runner = createRunner(implement(graph, { nodes: { a: asks, b: asks } }));
    await runner.invoke({}, { interruptBefore: ["a", "b"] });
    await expect(runner.resume({ value: "Bob" })).rejects.toThrow(
      "no question is open, and several tasks are next that may ask",
    );
    const { questions } = await runner.continue();
    expect(questions).toHaveLength(2);
    const answers = Object.fromEntries(questions.map(({ id }) => [id, "Ann"]));
    expect((await runner.resume({ answers })).values!.log).toEqual(["a Ann", "b Ann"]);
  });

  it("at an older checkpoint can be answered again, by its id and by value", async () => {
    const runner = createRunner(code((context) => context.interrupt("name?")));
    const { questions, checkpointId } = await runner.invoke({});
    await runner.resume({ value: "one" });
    expect(
      (await runner.resume({ answers: { [questions[0]!.id]: "two" } }, { checkpointId })).values!.log,
    ).toEqual(["two"]);
    expect((await runner.resume({ value: "three" }, { checkpointId })).values!.log).toEqual(["three"]);
    expect((await runner.fork(checkpointId)).questions).toMatchObject([{ value: "name?" }]);
    expect((await runner.fork(checkpointId)).questions[0]!.id).not.toBe(questions[0]!.id);
  });

  it("may be answered together with an update and a goto, also through a reducer that is code", async () => {
    const runner = createRunner(code((context) => context.interrupt("name?")));
    await runner.invoke({});
    const result = await runner.resume({ value: "Ann", update: { best: 7, ghost: 1 }, goto: ["end", END] });
    expect(result.values).toEqual({ log: ["Ann"], best: 7 });
    await runner.invoke({});
    const { questions } = await runner.request({ command: { update: { best: 3 }, goto: "ask" } });
    expect(questions).toHaveLength(1);
    await expect(runner.resume({ value: "x", goto: "no" })).rejects.toThrow('unknown node "no"');
    await expect(runner.request({ command: {} })).rejects.toMatchObject({ name: "EmptyInputError" });
  });

  it("needs a checkpointer", async () => {
    const runner = createRunner(
      code((context) => context.interrupt("name?")),
      { checkpointer: false },
    );
    await expect(runner.invoke({})).rejects.toMatchObject({
      name: "GraphValueError",
      code: "MISSING_CHECKPOINTER",
    });
    await expect(runner.state()).rejects.toMatchObject({ code: "MISSING_CHECKPOINTER" });
    await expect(runner.continue()).rejects.toMatchObject({ code: "MISSING_CHECKPOINTER" });
  });
});
