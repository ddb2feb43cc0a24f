import { describe, expect, it } from "vitest";
import {
  append,
  command,
  createMemoryCheckpointer,
  createRunner,
  defineGraph,
  END,
  implement,
  last,
  schema,
  START,
  waitForEvent,
  type Checkpoint,
} from "../../../graph/index.js";
import { compile } from "../../../graph/core/compile.js";
import { deliver, expireWait } from "../../../graph/core/deliver.js";
import { plan } from "../../../graph/core/plan.js";

const order = defineGraph({
  name: "order",
  version: "1",
  state: { log: append<string>(), approved: last<boolean>({ default: false }) },
})
  .node("ask")
  .node("ship")
  .node("late")
  .node("other")
  .event("approved", { schema: schema<{ ok: boolean }>({ type: "object", required: ["ok"] }) })
  .event("plain")
  .edge(START, "ask")
  .edge(START, "other")
  .route("ask", ["ship", "late", END])
  .build();

function codeOf(wait: () => ReturnType<typeof waitForEvent<"approved", "ship">>) {
  return implement(order, {
    nodes: {
      ask: () => ({ log: "ask" }),
      ship: (state) => ({ log: `ship ${state.approved}` }),
      late: () => ({ log: "late" }),
      other: () => ({ log: "other" }),
    },
    routes: { ask: wait as never },
    events: {
      approved: (state, payload, context) => ({
        approved: payload.ok,
        log: `${context.node} after ${state.log.length}`,
      }),
      plain: () => null,
    },
  });
}

const waiting = () => waitForEvent("approved", "ship");

describe("a wait for an event", () => {
  it("lets the run wait; the event's handler updates the state and its node resumes", async () => {
    const runner = createRunner(codeOf(waiting));
    const first = await runner.invoke({});
    expect(first).toMatchObject({ status: "waiting", values: { log: ["ask", "other"] } });
    expect(first.waits).toMatchObject([{ event: "approved", resume: "ship", namespace: "" }]);
    expect(await runner.state()).toMatchObject({ next: [], status: "waiting", waits: first.waits });
    const second = await runner.sendEvent("approved", { ok: true });
    expect(second).toMatchObject({
      status: "done",
      waits: [],
      values: { approved: true, log: ["ask", "other", "ship after 2", "ship true"] },
    });
  });

  it("is met by an event that came before it, the oldest first", async () => {
    const runner = createRunner(codeOf(waiting));
    await runner.invoke({});
    await runner.sendEvent("approved", { ok: false });
    await runner.sendEvent("approved", { ok: true });
    const kept = await runner.sendEvent("approved", { ok: false });
    expect(kept.status).toBe("done");
    const next = await runner.invoke({});
    expect(next).toMatchObject({ status: "done", values: { approved: true } });
    expect(next.values!.log!.slice(-3)).toEqual(["other", "ship after 6", "ship true"]);
  });

  it("keeps one event once, and refuses unknown ones and payloads that don't fit", async () => {
    const checkpointer = createMemoryCheckpointer();
    const runner = createRunner(
      codeOf(() => END as never),
      { checkpointer },
    );
    await runner.invoke({});
    for (const payload of [{ ok: true }, { ok: false }])
      await runner.request({ event: "approved", payload, eventId: "e1" });
    expect((await checkpointer.load("default"))!.latest.inbox).toEqual([
      { id: "e1", event: "approved", payload: { ok: true } },
    ]);
    await expect(runner.sendEvent("other", 1)).rejects.toMatchObject({
      name: "GraphValueError",
      code: "UNKNOWN_EVENT",
    });
    await expect(runner.sendEvent("approved", {})).rejects.toMatchObject({ code: "INVALID_PAYLOAD" });
    await expect(createRunner(codeOf(waiting)).sendEvent("plain", 1)).rejects.toMatchObject({
      name: "EmptyInputError",
    });
  });

  it("ends at its deadline with the node for that case, or fails the run", async () => {
    const program = compile(order.manifest);
    for (const [wait, status, next] of [
      [
        () => waitForEvent("approved", "ship", { deadline: "1h", onDeadline: "late" as "ship" }),
        "running",
        ["late"],
      ],
      [() => waitForEvent("approved", "ship", { deadline: "1h" }), "failed", []],
    ] as const) {
      const checkpointer = createMemoryCheckpointer();
      const runner = createRunner(codeOf(wait), { checkpointer });
      const { waits } = await runner.invoke({});
      expect(waits[0]!.deadlineMs).toBe(3_600_000);
      const { latest } = (await checkpointer.load("default"))!;
      const { checkpoint } = expireWait(program, latest, waits[0]!.id);
      expect(checkpoint.status).toBe(status);
      expect(plan(program, checkpoint).map((task) => task.name)).toEqual(next);
      expect(() => expireWait(program, checkpoint, waits[0]!.id)).toThrow("isn't open");
    }
  });

  it("holds deferred nodes back, as the run has still something to come", async () => {
    const graph = defineGraph({ name: "g", version: "1", state: { log: append<string>() } })
      .node("a", { ends: ["b"] })
      .node("b")
      .node("end", { defer: true })
      .event("go")
      .edge(START, "a")
      .edge("a", "end")
      .edge("b", "end")
      .build();
    const code = implement(graph, {
      nodes: {
        a: () => command({ update: { log: "a" }, goto: waitForEvent("go", "b") }),
        b: () => ({ log: "b" }),
        end: () => ({ log: "end" }),
      },
      events: { go: () => undefined },
    });
    const runner = createRunner(code);
    expect(await runner.invoke({})).toMatchObject({ status: "waiting", values: { log: ["a"] } });
    expect(await runner.sendEvent("go", null)).toMatchObject({
      status: "done",
      values: { log: ["a", "b", "end"] },
    });
  });

  it("is dropped by a new input", async () => {
    const runner = createRunner(codeOf(waiting));
    await runner.invoke({});
    const again = await runner.invoke({});
    expect(again.waits).toHaveLength(1);
  });

  it("inside a subgraph keeps the graph around it waiting", async () => {
    const outer = defineGraph({ name: "outer", version: "1", state: { log: append<string>() } })
      .subgraph("sub", order, { returns: "changed" })
      .node("end")
      .edge(START, "sub")
      .edge("sub", "end")
      .build();
    const code = implement(outer, {
      nodes: { end: () => ({ log: "end" }) },
      subgraphs: { sub: codeOf(waiting) },
    });
    const runner = createRunner(code);
    const first = await runner.invoke({ log: "in" });
    expect(first.status).toBe("waiting");
    expect(first.waits[0]!.namespace).toMatch(/^sub:/);
    const { values } = await runner.sendEvent("approved", { ok: true });
    expect(values!.log!.slice(-2)).toEqual(["ship true", "end"]);
  });

  it("may not be for an event or a node that the graph doesn't know, and its handler may only update", async () => {
    const run = (wait: () => unknown) => createRunner(codeOf(wait as never)).invoke({});
    await expect(run(() => waitForEvent("no", "ship"))).rejects.toThrow(
      'route "ask" waits for unknown event "no"',
    );
    await expect(run(() => waitForEvent("approved", "no"))).rejects.toThrow(
      'wait of route "ask" leads to unknown node "no"',
    );
    await expect(run(() => waitForEvent("approved", "ship", { onDeadline: "no" }))).rejects.toThrow(
      "onDeadline",
    );
    const base = codeOf(waiting);
    const code = {
      ...base,
      parts: { ...base.parts, events: { ...base.parts.events, approved: () => command({ goto: "late" }) } },
    };
    const runner = createRunner(code as typeof base);
    await runner.invoke({});
    await expect(runner.sendEvent("approved", { ok: true })).rejects.toThrow(
      "returned a command; allowed is an update",
    );
  });
});

describe("an event for a run that rests for another reason", () => {
  it("is kept without setting the run going", async () => {
    const checkpointer = createMemoryCheckpointer();
    const runner = createRunner(codeOf(waiting), { checkpointer });
    await runner.invoke({}, { interruptBefore: ["ask"] });
    const kept = await runner.sendEvent("plain", 1);
    expect(kept.status).toBe("breakpoint");
    const stored: Checkpoint = (await checkpointer.load("default"))!.latest;
    expect(
      deliver(compile(order.manifest), stored, { id: "x", event: "plain", payload: 2 }).checkpoint.inbox,
    ).toHaveLength(2);
    expect((await runner.continue()).status).toBe("waiting");
  });
});
