import { describe, expect, it } from "vitest";
import {
  append,
  apply,
  compile,
  custom,
  defineGraph,
  deliver,
  plan,
  resume,
  START,
  start,
  update,
  type Checkpoint,
  type Outcome,
  type Task,
} from "../../../graph/index.js";

const call = { requestId: "q", run: "run" };
const graph = defineGraph({
  name: "tasks",
  version: "1",
  state: { log: append<string>(), best: custom<number>("best") },
})
  .node("a", { ends: ["w", "b"], cache: { key: ["log"] } })
  .node("w")
  .node("b", { onError: true, interrupts: true })
  .node("c")
  .event("go")
  .edge(START, "a")
  .edge("b", "c")
  .route("c", ["b"], { name: "on" })
  .build();
const program = compile(graph.manifest);

const outcome = (task: Task, record: Outcome["record"]): Outcome => ({
  namespace: "",
  taskId: task.id,
  record,
});
const after = (checkpoint: Checkpoint, record: (task: Task) => Outcome["record"]): Checkpoint =>
  apply(
    program,
    checkpoint,
    plan(program, checkpoint).map((task) => outcome(task, record(task))),
  ).checkpoint;
const done = (given: object) => (): Outcome["record"] => ({
  status: "done",
  result: { writes: [], goto: [], sends: [], waits: [], ...given },
});

/** What stands in every task of the graph, the place and the ids aside. */
const shared = (checkpoint: Checkpoint) => ({
  id: expect.any(String) as string,
  namespace: "",
  path: "",
  step: checkpoint.frames[""]!.head.step + 1,
  checkpointId: checkpoint.frames[""]!.head.id,
  state: {},
  routes: [],
  answers: [],
});

/** Whole tasks, since whoever runs them may not meet a field that isn't theirs. */
describe("a task", () => {
  const begun = start(program, undefined, { log: ["in"] }, call).checkpoint;

  it("of a node has its input, its triggers and its cache without an end", () => {
    expect(plan(program, begun)).toStrictEqual([
      {
        ...shared(begun),
        kind: "node",
        name: "a",
        node: "a",
        triggers: ["branch:to:a"],
        input: { log: ["in"] },
        cache: { key: expect.any(String) as string },
      },
    ]);
  });

  it("of a send has the send's own time-out, which whatever the task emits puts off", () => {
    const sent = after(begun, done({ sends: [{ node: "w", arg: 1, timeoutMs: 5 }] }));
    expect(plan(program, sent)).toStrictEqual([
      {
        ...shared(sent),
        kind: "node",
        name: "w",
        node: "w",
        triggers: ["__pregel_push"],
        input: 1,
        timeout: { runMs: 5, refresh: "auto" },
      },
    ]);
  });

  it("of an error handler has the node's input and its error", () => {
    const next = after(begun, done({ goto: ["b"] }));
    const failed = after(next, () => ({
      status: "failed",
      error: { name: "Error", message: "boom" },
      answers: [],
    }));
    expect(plan(program, failed)).toStrictEqual([
      {
        ...shared(failed),
        kind: "handler",
        name: "b",
        node: "b",
        triggers: [],
        input: { log: ["in"] },
        error: { name: "Error", message: "boom", node: "b" },
      },
    ]);
  });

  it("that asked has the answers that it got", () => {
    const next = after(begun, done({ goto: ["b"] }));
    const asked = after(next, () => ({ status: "asked", asked: [{ id: "q", value: "?" }], answers: [] }));
    const answered = resume(program, asked, { value: "yes" }, call).checkpoint;
    expect(plan(program, answered)).toStrictEqual([
      {
        ...shared(answered),
        kind: "node",
        name: "b",
        node: "b",
        triggers: ["branch:to:b"],
        input: { log: ["in"] },
        answers: [{ value: "yes" }],
      },
    ]);
  });

  it("of an event has the payload and the state", () => {
    const waits = after(begun, done({ waits: [{ id: "w", event: "go", resume: "b" }] }));
    const delivered = deliver(program, waits, { id: "e", event: "go", payload: { ok: true } }).checkpoint;
    expect(plan(program, delivered)).toStrictEqual([
      {
        ...shared(delivered),
        kind: "event",
        name: "go",
        node: "b",
        triggers: ["event:go"],
        input: { ok: true },
        state: { log: ["in"] },
      },
    ]);
  });

  it("of a reducer has the updates, and the current value if there is one", () => {
    const next = after(
      begun,
      done({
        writes: [
          ["best", 1],
          ["best", 2],
        ],
      }),
    );
    expect(plan(program, next)).toStrictEqual([
      {
        ...shared(next),
        kind: "reduce",
        name: "best",
        node: "best",
        triggers: [],
        input: { updates: [1, 2] },
      },
    ]);
  });

  it("of an update by hand has only the routes, on what was given", () => {
    const edited = update(program, begun, [{ values: { log: "hand" }, asNode: "c" }], {
      ...call,
      takesFinished: true,
    }).checkpoint;
    expect(plan(program, edited)).toStrictEqual([
      {
        ...shared(edited),
        kind: "updateWriter",
        name: "c",
        node: "c",
        triggers: [],
        input: null,
        returned: { value: { log: "hand" } },
        state: { log: ["in"] },
        routes: ["on"],
      },
    ]);
  });
});
