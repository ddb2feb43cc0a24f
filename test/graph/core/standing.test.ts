import { describe, expect, it } from "vitest";
import {
  append,
  apply,
  command,
  compile,
  createMemoryCheckpointer,
  createRunner,
  custom,
  defineGraph,
  deliver,
  implement,
  last,
  outsideCommand,
  PARENT,
  plan,
  START,
  start,
  update,
  type Checkpoint,
  type Json,
  type Outcome,
  type Program,
  type Task,
} from "../../../graph/index.js";

const call = { requestId: "q", run: "run" };
const edit = { ...call, takesFinished: true };
const state = { log: append<string>(), n: last<number>() };
const noResult = { writes: [], goto: [], sends: [], waits: [] };

const names = (tasks: readonly Task[]) => tasks.map(({ kind, name }) => `${kind} ${name}`);
const gives = (task: Task, result: object): Outcome => ({
  namespace: task.namespace,
  taskId: task.id,
  record: { status: "done", result: { ...noResult, ...result } },
});
/** The event's handler ends without an update, and its node is woken. */
const runsHandler = (program: Program, checkpoint: Checkpoint) =>
  apply(
    program,
    checkpoint,
    plan(program, checkpoint).map((task) => gives(task, { goto: [task.node] })),
  ).checkpoint;

describe("what is planned together", () => {
  const scores = defineGraph({
    name: "scores",
    version: "1",
    state: { best: custom<number>("best", { default: 0 }), worst: custom<number>("worst", { default: 0 }) },
  })
    .node("a")
    .node("b")
    .edge(START, "a")
    .route("a", ["b"], { name: "fromA" })
    .route("b", ["a"], { name: "fromB" })
    .build();
  const program = compile(scores.manifest);
  const both: Json = { best: 1, worst: 2 };

  it("is all reducers that an update by hand needs", () => {
    const { checkpoint } = start(program, undefined, both, call);
    const begun = update(program, afterInput(checkpoint), [{ values: both, asNode: START }], edit);
    expect(names(plan(program, begun.checkpoint))).toEqual(["reduce best", "reduce worst"]);
  });

  it("is all reducers that a command from outside needs", () => {
    const { checkpoint } = outsideCommand(program, undefined, { update: both, goto: "b" }, call);
    expect(names(plan(program, checkpoint))).toEqual(["reduce best", "reduce worst"]);
  });

  it("is the routes of all entries of an update by hand", () => {
    const { checkpoint } = start(program, undefined, both, call);
    const entries = ["a", "b"].map((asNode) => ({ values: {}, asNode }));
    const begun = update(program, afterInput(checkpoint), entries, edit);
    expect(names(plan(program, begun.checkpoint))).toEqual(["updateWriter a", "updateWriter b"]);
  });

  /** The input's own reducers, so that the node is next. */
  function afterInput(checkpoint: Checkpoint): Checkpoint {
    const outcomes = plan(program, checkpoint)
      .filter(({ kind }) => kind === "reduce")
      .map((task) => gives(task, { value: 1 }));
    const next = apply(program, checkpoint, outcomes).checkpoint;
    expect(names(plan(program, next))).toEqual(["node a"]);
    return next;
  }
});

describe("how a run stands", () => {
  const waitsFor = (resume: string) => ({
    waits: [{ id: `wait for ${resume}`, event: "go", resume }],
  });
  const inner = defineGraph({ name: "inner", version: "1", state })
    .node("i", { ends: ["j"] })
    .node("j")
    .event("go")
    .edge(START, "i")
    .build();
  const outer = defineGraph({ name: "outer", version: "1", state })
    .node("a", { ends: ["sub", "last"] })
    .subgraph("sub", inner)
    .node("last")
    .event("go")
    .edge(START, "a")
    .build();
  const program = compile(outer.manifest);
  const waiting = () => {
    const { checkpoint } = start(program, undefined, {}, call);
    const [task] = plan(program, checkpoint);
    return apply(program, checkpoint, [gives(task!, waitsFor("sub"))]).checkpoint;
  };

  it("takes an event that wakes a subgraph: first its handler runs, then the subgraph", () => {
    expect(waiting().status).toBe("waiting");
    const delivered = deliver(program, waiting(), { id: "e", event: "go", payload: 1 }).checkpoint;
    expect(delivered.status).toBe("running");
    expect(names(plan(program, delivered))).toEqual(["event go"]);
    expect(names(plan(program, runsHandler(program, delivered)))).toEqual(["node i"]);
  });

  it("still waits after an update by hand that leads nowhere, and is done when nothing waits", () => {
    const waits = update(program, waiting(), [{ values: { n: 1 }, asNode: "last" }], edit).checkpoint;
    expect(waits.status).toBe("waiting");
    expect(waits.frames[""]).toMatchObject({ status: "running", head: { waits: [{ event: "go" }] } });
    const { checkpoint } = start(program, undefined, {}, call);
    const done = update(program, checkpoint, [{ values: { n: 1 }, asNode: "last" }], edit).checkpoint;
    expect(done.status).toBe("done");
    expect(done.frames[""]!.status).toBe("done");
  });

  it("still waits after an update by hand in the subgraph whose event is to come", () => {
    const delivered = deliver(program, waiting(), { id: "e", event: "go", payload: 1 }).checkpoint;
    const inSubgraph = runsHandler(program, delivered);
    const [task] = plan(program, inSubgraph);
    const waits = apply(program, inSubgraph, [gives(task!, waitsFor("j"))]).checkpoint;
    expect(waits.status).toBe("waiting");
    const { namespace } = task!;
    const edited = update(program, waits, [{ values: { n: 1 }, asNode: "j" }], {
      ...edit,
      namespace,
    }).checkpoint;
    expect(edited.status).toBe("waiting");
    expect(edited.frames[namespace]!.head.waits).toHaveLength(1);
  });

  it("stands at a breakpoint when the only question is one of a subgraph that failed and was handled", () => {
    const asking = defineGraph({ name: "asking", version: "1", state })
      .node("ask", { interrupts: true })
      .node("fail")
      .edge(START, "ask")
      .edge(START, "fail")
      .build();
    const stopping = defineGraph({ name: "stopping", version: "1", state, interruptBefore: ["x"] })
      .node("x")
      .edge(START, "x")
      .build();
    const graph = defineGraph({ name: "g", version: "1", state })
      .subgraph("handled", asking, { onError: true })
      .subgraph("stopped", stopping)
      .edge(START, "handled")
      .edge(START, "stopped")
      .build();
    const both = compile(graph.manifest);
    const { checkpoint } = start(both, undefined, {}, call);
    const [ask, fail] = plan(both, checkpoint);
    const asked = { status: "asked", asked: [{ id: "q", value: "?" }], answers: [] } as const;
    const failed = { status: "failed", error: { name: "Error", message: "boom" }, answers: [] } as const;
    const outcome = (task: Task, record: Outcome["record"]): Outcome => ({
      namespace: task.namespace,
      taskId: task.id,
      record,
    });
    const first = apply(both, checkpoint, [outcome(ask!, asked)]).checkpoint;
    expect(names(plan(both, first))).toEqual(["node fail"]);
    const second = apply(both, first, [outcome(fail!, failed)]).checkpoint;
    const [handler] = plan(both, second);
    expect(names([handler!])).toEqual(["handler handled"]);
    expect(apply(both, second, [gives(handler!, {})]).checkpoint.status).toBe("breakpoint");
  });

  it("is interrupted when an error handler asks, and goes on with the answer", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("a", { interrupts: true, onError: true })
      .edge(START, "a")
      .build();
    const runner = createRunner(
      implement(graph, {
        nodes: {
          a: () => {
            throw new Error("boom");
          },
        },
        errorHandlers: { a: (_input, _error, context) => ({ log: String(context.interrupt("now what?")) }) },
      }),
      { checkpointer: createMemoryCheckpointer() },
    );
    expect(await runner.invoke({})).toMatchObject({
      status: "interrupted",
      questions: [{ value: "now what?" }],
    });
    expect(await runner.resume({ value: "carry on" })).toMatchObject({
      status: "done",
      values: { log: ["carry on"] },
    });
  });

  it("has no answers for a node that gave a command for no graph and is tried again", async () => {
    const graph = defineGraph({ name: "g", version: "1", state })
      .node("a", { interrupts: true })
      .edge(START, "a")
      .build();
    let tries = 0;
    const runner = createRunner(
      implement(graph, {
        nodes: {
          a: (_input, context) => {
            tries += 1;
            if (tries === 1) return command({ graph: PARENT, update: {} }) as never;
            return { log: String(context.interrupt("really?")) };
          },
        },
      }),
    );
    await expect(runner.invoke({})).rejects.toThrow("there is none");
    expect(await runner.continue()).toMatchObject({
      status: "interrupted",
      questions: [{ value: "really?" }],
    });
    expect((await runner.resume({ value: "yes" })).values!.log).toEqual(["yes"]);
  });
});
