import { describe, expect, it } from "vitest";
import {
  any,
  append,
  command,
  compile,
  createRunner,
  custom,
  defineGraph,
  END,
  ephemeral,
  execute,
  implement,
  last,
  plan,
  apply,
  send,
  snapshot,
  START,
  start,
  topic,
  untracked,
  type Checkpoint,
  type GraphCode,
  type GraphTypes,
  type Json,
  type Outcome,
  type Program,
} from "../../../graph/index.js";
import type { Surroundings } from "../../../graph/core/scope.js";

const surroundings = {
  threadId: "t",
  runId: "r",
  attempt: 1,
  firstAttemptAt: 0,
  context: undefined,
  signal: new AbortController().signal,
  resumable: true,
  write: () => undefined,
  message: () => undefined,
  heartbeat: () => undefined,
  drain: () => undefined,
} as unknown as Surroundings;

function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
const throughJson = (checkpoint: Checkpoint): Checkpoint =>
  JSON.parse(JSON.stringify(checkpoint)) as Checkpoint;

/** Runs a graph with nothing but plan, execute and apply, on frozen checkpoints that went through JSON. */
async function steps(
  program: Program,
  code: GraphCode,
  input: Json,
  order: (outcomes: Outcome[]) => Outcome[][],
) {
  let checkpoint = start(program, undefined, input, { requestId: "q", run: "run" }).checkpoint;
  const seen: string[] = [];
  for (let turn = 0; turn < 30; turn++) {
    checkpoint = frozen(throughJson(checkpoint));
    const tasks = plan(program, checkpoint);
    expect(plan(program, throughJson(checkpoint))).toEqual(tasks);
    if (tasks.length === 0) break;
    seen.push(tasks.map(({ kind, name }) => `${kind} ${name}`).join(", "));
    const outcomes: Outcome[] = [];
    for (const task of tasks) {
      const { record } = await execute(program, code, task, surroundings);
      outcomes.push({ namespace: task.namespace, taskId: task.id, record });
    }
    for (const part of order(outcomes)) {
      const once = apply(program, checkpoint, frozen(part));
      expect(JSON.stringify(apply(program, throughJson(checkpoint), part))).toBe(JSON.stringify(once));
      checkpoint = frozen(throughJson(once.checkpoint));
    }
  }
  return { seen, checkpoint, values: snapshot(program, checkpoint, { appliesFinished: true }).values };
}

const inner = defineGraph({ name: "inner", version: "1", state: { log: append<string>() } })
  .node("i")
  .edge(START, "i")
  .build();
const wide = defineGraph({
  name: "wide",
  version: "1",
  state: {
    log: append<string>(),
    best: custom<number>("best", { default: 0 }),
    n: last<number>({ default: 0 }),
  },
})
  .node("a")
  .node("b", { onError: true })
  .node("w")
  .subgraph("sub", inner, { returns: "changed" })
  .node("end")
  .edge(START, "a")
  .edge(START, "b")
  .edge("a", "sub")
  .route("a", ["w"], { name: "fan" })
  .join(["b", "sub", "w"], "end")
  .build();
const wideCode = implement(wide, {
  nodes: {
    a: () => ({ log: "a", best: 3, n: 2 }),
    b: () => {
      throw new Error("boom");
    },
    w: (input) => ({
      log: `w${(input as unknown as { i: number }).i}`,
      best: (input as unknown as { i: number }).i * 5,
    }),
    end: ({ log, best }) => ({ log: `end ${log.length} ${best}` }),
  },
  routes: { fan: ({ n }) => Array.from({ length: n }, (_, i) => send("w", { i } as never)) },
  errorHandlers: { b: (_input, error) => command({ update: { log: error.message }, goto: END }) },
  reducers: { best: Math.max },
  subgraphs: { sub: implement(inner, { nodes: { i: ({ log }) => ({ log: `i${log.length}` }) } }) },
}) as unknown as GraphCode<GraphTypes>;

describe("plan and apply", () => {
  const program = compile(wide.manifest);
  // The one task in the subgraph has another name than all tasks outside, so one set of functions serves both.
  const nodes = { ...wideCode.parts.nodes, ...wideCode.parts.subgraphs["sub"]!.parts.nodes };
  const code: GraphCode = { ...wideCode, parts: { ...wideCode.parts, nodes } };
  const run = (order: (outcomes: Outcome[]) => Outcome[][]) => steps(program, code, { log: "in" }, order);

  it("need nothing but each other, change nothing they are given, and take results in any order and number", async () => {
    const together = await run((outcomes) => [outcomes]);
    const oneByOne = await run((outcomes) => outcomes.map((outcome) => [outcome]));
    const backwards = await run((outcomes) => [...outcomes].reverse().map((outcome) => [outcome]));
    for (const other of [oneByOne, backwards]) expect(other.values).toEqual(together.values);
    expect(together.values).toMatchObject({ best: 5, n: 2 });
    expect(together.checkpoint.frames[""]!.head.id).toBe(backwards.checkpoint.frames[""]!.head.id);
  });

  it("name every kind of task that is a person's code", async () => {
    const { seen } = await run((outcomes) => [outcomes]);
    expect(seen).toEqual([
      "node a, node b",
      "handler b",
      "reduce best",
      "node w, node w, node i",
      "reduce best",
    ]);
  });

  it("leave out outcomes of frames and tasks that are gone", () => {
    const { checkpoint } = start(program, undefined, {}, { requestId: "q", run: "run" });
    const outcome = {
      namespace: "gone",
      taskId: "x",
      record: { status: "done", result: { writes: [], goto: [], sends: [], waits: [] } },
    } as const;
    expect(apply(program, checkpoint, [outcome]).checkpoint).toEqual(checkpoint);
  });

  it("take a task's first result and leave out a second", () => {
    const { checkpoint } = start(program, undefined, {}, { requestId: "q", run: "run" });
    const [task] = plan(program, checkpoint);
    const gives = (log: string) =>
      ({
        namespace: "",
        taskId: task!.id,
        record: { status: "done", result: { writes: [["log", log]], goto: [], sends: [], waits: [] } },
      }) as const;
    const once = apply(program, checkpoint, [gives("first")]).checkpoint;
    expect(apply(program, once, [gives("second")]).checkpoint).toEqual(once);
    expect(plan(program, once).map(({ name }) => name)).toEqual(["b"]);
  });

  it("refuse a checkpoint of another graph", () => {
    const { checkpoint } = start(program, undefined, {}, { requestId: "q", run: "run" });
    const strange = { ...checkpoint, frames: { "": { ...checkpoint.frames[""]!, path: "no" } } };
    expect(() => apply(program, strange, [])).toThrow('checkpoint has a subgraph at "no"');
    expect(() => start(program, undefined, null, { requestId: "q", run: "run" })).toThrow("got no input");
  });
});

describe("supersteps", () => {
  const state = { log: append<string>(), n: last<number>() };

  it("run the join node once all of its nodes have run, in whatever steps, and again in the next round", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("a")
      .node("b")
      .node("b2")
      .node("j")
      .edge(START, "a")
      .edge(START, "b")
      .edge("b", "b2")
      .join(["a", "b2"], "j")
      .route("j", { again: "a", end: END }, { name: "on" })
      .edge("j", "b2")
      .build();
    const code = implement(graph, {
      nodes: {
        a: () => ({ log: "a" }),
        b: () => ({ log: "b" }),
        b2: () => ({ log: "b2" }),
        j: () => ({ log: "j" }),
      },
      routes: { on: ({ log }) => (log.filter((entry) => entry === "j").length < 2 ? "again" : "end") },
    });
    const { values } = await createRunner(code).invoke({});
    expect(values!.log).toEqual(["a", "b", "b2", "j", "a", "b2", "j", "b2"]);
  });

  it("report a join that some of its nodes never reached, and keep the arrivals for the next run", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("a")
      .node("b")
      .node("j")
      .route(START, ["a", "b"], { name: "pick" })
      .join(["a", "b"], "j")
      .build();
    let next: "a" | "b" = "a";
    const code = implement(graph, {
      nodes: { a: () => ({ log: "a" }), b: () => ({ log: "b" }), j: () => ({ log: "j" }) },
      routes: { pick: () => next },
    });
    const runner = createRunner(code);
    const first = await runner.invoke({});
    expect(first.unreleasedJoins).toEqual([{ namespace: "", to: "j", arrived: ["a"], missing: ["b"] }]);
    expect((await runner.state()).unreleasedJoins).toEqual(first.unreleasedJoins);
    next = "b";
    expect(await runner.invoke({})).toMatchObject({ values: { log: ["a", "b", "j"] }, unreleasedJoins: [] });
  });

  it("answer a plain and a waiting edge of one step with one run of the node", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("a")
      .node("b")
      .node("j")
      .edge(START, "a")
      .edge(START, "b")
      .edge("a", "j")
      .join(["a", "b"], "j")
      .build();
    const code = implement(graph, { nodes: { a: () => null, b: () => null, j: () => ({ log: "j" }) } });
    const runner = createRunner(code);
    expect((await runner.invoke({})).values!.log).toEqual(["j"]);
    expect(await runner.state()).toMatchObject({ next: [], status: "done" });
    expect((await runner.continue()).values!.log).toEqual(["j"]);
  });

  it("hold a deferred node and a deferred join back until nothing else would run", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("a")
      .node("b")
      .node("b2")
      .node("late", { defer: true })
      .node("joined", { defer: true })
      .edge(START, "a")
      .edge(START, "b")
      .edge("b", "b2")
      .edge("a", "late")
      .edge("b2", "late")
      .join(["a", "b"], "joined")
      .build();
    const tag = (name: string) => () => ({ log: name });
    const code = implement(graph, {
      nodes: { a: tag("a"), b: tag("b"), b2: tag("b2"), late: tag("late"), joined: tag("joined") },
    });
    expect((await createRunner(code).invoke({})).values!.log).toEqual(["a", "b", "b2", "joined", "late"]);
  });

  it("empty what lasts one step", async () => {
    const graph = defineGraph({
      name: "g",
      version: "1",
      state: {
        seen: append<Json>(),
        e: ephemeral<number>(),
        y: any<string>(),
        t: topic<number>(),
        u: topic<number>({ unique: true }),
        gone: untracked<number>(),
      },
    })
      .node("a")
      .node("b")
      .node("c")
      .edge(START, "a")
      .edge("a", "b")
      .edge("b", "c")
      .build();
    const look = (s: Record<string, Json | undefined>): Json => [
      s["e"] ?? null,
      s["y"] ?? null,
      s["t"] ?? null,
      s["u"] ?? null,
      s["gone"] ?? null,
    ];
    const code = implement(graph, {
      nodes: {
        a: () => ({ e: 1, y: "y", t: [1, 2], u: [1, 1], gone: 5 }),
        b: (s) => ({ seen: [look(s as never)], u: 1 }),
        c: (s) => ({ seen: [look(s as never)] }),
      },
    });
    const runner = createRunner(code);
    await runner.invoke({}, { interruptBefore: ["c"] });
    expect((await runner.state()).values).toEqual({ seen: [[1, "y", [1, 2], [1], 5]] });
    expect((await runner.continue()).values!.seen![1]).toEqual([null, null, null, null, null]);
    const through = await createRunner(code).invoke({});
    expect(through.values!.seen![1]).toEqual([null, null, null, null, 5]);
  });

  it("apply results by node name, sends by index, and keep what a route sees to its own node", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("z")
      .node("b")
      .node("w")
      .edge(START, "z")
      .edge(START, "b")
      .route("z", ["w", END], { name: "fromZ" })
      .route("b", ["w", END], { name: "fromB" })
      .build();
    const fan =
      (of: string) =>
      ({ log }: { log: readonly string[] }) => [
        send("w", { log: [`${of}0 ${log.join("+")}`] }),
        send("w", { log: [`${of}1`] }),
      ];
    const code = implement(graph, {
      nodes: { z: () => ({ log: "z" }), b: () => ({ log: "b" }), w: ({ log }) => ({ log: log[0]! }) },
      routes: { fromZ: fan("z"), fromB: fan("b") },
    });
    expect((await createRunner(code).invoke({})).values!.log).toEqual(["b", "z", "b0 b", "b1", "z0 z", "z1"]);
  });

  it("take two routes of a node together, and reach a node once however often it is named", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("a", { ends: ["x"] })
      .node("x")
      .node("y")
      .edge(START, "a")
      .route("a", ["x", "y"], { name: "one" })
      .route("a", ["y", END], { name: "two" })
      .build();
    const code = implement(graph, {
      nodes: { a: () => command({ goto: ["x", "x"] }), x: () => ({ log: "x" }), y: () => ({ log: "y" }) },
      routes: { one: () => ["x", "y"], two: () => "y" },
    });
    expect((await createRunner(code).invoke({})).values!.log).toEqual(["x", "y"]);
  });

  it("keep deferred nodes and joins over a question, and drop a task's wake-up with a new input", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("ask", { interrupts: true })
      .node("side")
      .node("late", { defer: true })
      .edge(START, "ask")
      .edge(START, "side")
      .edge("side", "late")
      .edge("ask", "late")
      .build();
    const code = implement(graph, {
      nodes: {
        ask: (_s, context) => ({ log: String(context.interrupt("?")) }),
        side: () => ({ log: "side" }),
        late: () => ({ log: "late" }),
      },
    });
    const runner = createRunner(code);
    expect((await runner.invoke({ log: "1" })).values!.log).toEqual(["1", "side"]);
    expect((await runner.resume({ value: "yes" })).values!.log).toEqual(["1", "yes", "side", "late"]);
    await runner.invoke({ log: "2" });
    await runner.invoke({ log: "3" });
    expect((await runner.resume({ value: "no" })).values!.log!.slice(4)).toEqual([
      "2",
      "3",
      "no",
      "side",
      "late",
    ]);
  });

  it("stop before and after nodes by name or everywhere, never at START", async () => {
    const graph = defineGraph({ name: "g", version: "1", state, interruptBefore: "*" })
      .node("a")
      .node("b")
      .edge(START, "a")
      .edge("a", "b")
      .build();
    const code = implement(graph, { nodes: { a: () => ({ log: "a" }), b: () => ({ log: "b" }) } });
    const runner = createRunner(code);
    expect(await runner.invoke({})).toMatchObject({ status: "breakpoint", values: null });
    expect((await runner.state()).next).toEqual(["a"]);
    expect(await runner.continue({ interruptBefore: [], interruptAfter: "*" })).toMatchObject({
      status: "breakpoint",
      values: { log: ["a"] },
    });
    expect(await runner.continue({ interruptBefore: [] })).toMatchObject({
      status: "done",
      values: { log: ["a", "b"] },
    });
  });
});
