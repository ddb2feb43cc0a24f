import { describe, expect, it } from "vitest";
import {
  append,
  createMemoryCache,
  createMemoryStore,
  createRunner,
  defineGraph,
  END,
  implement,
  last,
  messages,
  schema,
  send,
  START,
  type Cache,
  type StreamChunk,
  type TaskContext,
} from "../../../graph/index.js";

const state = { log: append<string>(), n: last<number>() };
type Code = (input: never, context: TaskContext<never>) => unknown;
type NodeOptions = Parameters<ReturnType<typeof begin>["node"]>[1];
const begin = () => defineGraph({ name: "g", version: "1", state });

/** A graph of nodes that all begin at once, by name. */
function parallel(
  nodes: Readonly<Record<string, Code>>,
  options: Readonly<Record<string, NodeOptions>> = {},
) {
  let builder = begin() as unknown as {
    node(name: string, more?: NodeOptions): typeof builder;
    edge(a: string, b: string): typeof builder;
    build(): never;
  };
  for (const name of Object.keys(nodes)) builder = builder.node(name, options[name]).edge(START, name);
  return implement(builder.build() as never, { nodes } as never);
}

const never = new Promise<never>(() => undefined);
async function collect(chunks: AsyncIterable<StreamChunk>): Promise<StreamChunk[]> {
  const all: StreamChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

describe("attempts", () => {
  it("go on until one succeeds, each told its number and the time of the first", async () => {
    const attempts: (readonly [number, number])[] = [];
    const a: Code = (_input, { attempt, firstAttemptAt }) => {
      attempts.push([attempt, firstAttemptAt]);
      if (attempt < 3) throw new Error("again");
      return { log: "done" };
    };
    const code = parallel({ a }, { a: { retry: { initialInterval: 1, jitter: false } } });
    expect((await createRunner(code).invoke({})).values).toEqual({ log: ["done"] });
    expect(attempts.map(([attempt]) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(attempts.map(([, first]) => first)).size).toBe(1);
  });

  it("that take too long fail and may be tried again; what they still do counts for nothing", async () => {
    const signals: AbortSignal[] = [];
    let late!: () => void;
    const a: Code = async (_input, context) => {
      signals.push(context.signal);
      if (context.attempt > 1) return { log: "in time" };
      await new Promise<void>((resolve) => (late = resolve));
      context.write("too late");
      context.message("too late");
      context.heartbeat();
      context.drain("too late");
      return { log: "too late" };
    };
    const code = parallel(
      { a },
      { a: { timeout: 20, retry: { attempts: 2, initialInterval: 1, jitter: false } } },
    );
    const chunks = await collect(
      createRunner(code).stream({ input: {} }, { modes: ["custom", "messages", "values"] }),
    );
    late();
    expect(chunks.map(({ data }) => data)).toEqual([{ log: ["in time"] }]);
    expect(signals[0]!.aborted).toBe(true);
    expect(signals[0]!.reason).toMatchObject({ name: "NodeTimeoutError" });
    expect(signals[1]!.aborted).toBe(false);
  });

  it("have an idle limit that anything they emit puts off, or only a heartbeat", async () => {
    const emits: Code = async (_input, context) => {
      for (let i = 0; i < 6; i++) {
        await new Promise((resolve) => setTimeout(resolve, 15));
        context.write(i);
        context.message(i);
      }
    };
    const beats: Code = async (_input, context) => {
      for (let i = 0; i < 6; i++) {
        await new Promise((resolve) => setTimeout(resolve, 15));
        context.heartbeat();
      }
    };
    const idle = { timeout: { idle: 60 } } as const;
    expect(
      (await createRunner(parallel({ emits, beats }, { emits: idle, beats: idle })).invoke({})).status,
    ).toBe("done");
    const strict = { timeout: { idle: 60, refresh: "heartbeat" } } as const;
    await expect(createRunner(parallel({ emits }, { emits: strict })).invoke({})).rejects.toMatchObject({
      name: "NodeTimeoutError",
      message: expect.stringContaining("idle time-out of 60 ms") as string,
    });
  });

  it("take the time-out of their send", async () => {
    const graph = begin().node("w").route(START, ["w"], { name: "fan" }).build();
    const code = implement(graph, {
      nodes: { w: () => never },
      routes: { fan: () => send("w", { n: 1 }, { timeout: 15 }) },
    });
    await expect(createRunner(code).invoke({})).rejects.toMatchObject({ name: "NodeTimeoutError" });
  });
});

describe("a failure", () => {
  it("aborts its siblings and keeps those that finished; a continue runs only what failed", async () => {
    const calls: string[] = [];
    let fails = true;
    const nodes: Record<string, Code> = {
      good: () => void calls.push("good"),
      bad: async () => {
        calls.push("bad");
        await Promise.resolve();
        if (fails) throw new Error("boom");
      },
      slow: (_input, { signal }) => {
        calls.push("slow");
        if (!fails) return null;
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("stopped"))),
        );
      },
    };
    const runner = createRunner(parallel(nodes));
    await expect(runner.invoke({})).rejects.toThrow("boom");
    const { tasks, next, status } = await runner.state();
    expect(status).toBe("failed");
    expect(next).toEqual(["bad", "slow"]);
    expect(tasks.map(({ name, error, done }) => [name, error?.message, done])).toEqual([
      ["good", undefined, true],
      ["bad", "boom", false],
      ["slow", "stopped", false],
    ]);
    fails = false;
    expect((await runner.continue()).status).toBe("done");
    expect(calls).toEqual(["bad", "good", "slow", "bad", "slow"]);
  });

  it("of two tasks at once is one error with both; thrown again by name when nothing new failed", async () => {
    const fail =
      (text: string): Code =>
      () => {
        throw Object.assign(new TypeError(text), { code: "E" });
      };
    const runner = createRunner(parallel({ a: fail("one"), b: fail("two") }));
    const thrown = (await runner.invoke({}).catch((error: unknown) => error)) as AggregateError;
    expect(thrown).toBeInstanceOf(AggregateError);
    expect(thrown.errors).toMatchObject([{ message: "one" }, { message: "two" }]);
    expect((await runner.state()).status).toBe("failed");
  });

  it("goes to the graph's handler, which sees node and error and may fail itself", async () => {
    const graph = defineGraph({
      name: "g",
      version: "1",
      state,
      defaults: { onError: true, retry: { attempts: 1 } },
    })
      .node("a")
      .node("b")
      .edge(START, "a")
      .edge("a", "b")
      .build();
    let handles = false;
    const calls: string[] = [];
    const code = implement(graph, {
      nodes: {
        a: () => {
          calls.push("a");
          throw new Error("boom");
        },
        b: () => ({ log: "b" }),
      },
      errorHandlers: {
        "*": (_state, error) => {
          calls.push("handler");
          if (!handles) throw new Error("no idea");
          return { log: `${error.node} ${error.name} ${error.message}` };
        },
      },
    });
    const runner = createRunner(code);
    await expect(runner.invoke({})).rejects.toThrow("no idea");
    handles = true;
    const chunks = await collect(runner.stream({ continue: true }, { modes: ["updates", "tasks"] }));
    expect(chunks.at(-1)!.data).toMatchObject({ name: "__default_error_handler__", error: null });
    expect(chunks.find(({ mode, data }) => mode === "updates" && data !== null)!.data).toEqual({
      __default_error_handler__: { log: "a Error boom" },
    });
    expect((await runner.state()).values).toEqual({ log: ["a Error boom"] });
    expect(calls).toEqual(["a", "handler", "handler"]);
  });

  it("of what a node returns names the node and the place", async () => {
    const run = (result: unknown) => createRunner(parallel({ a: () => result })).invoke({});
    await expect(run({ log: () => 1 })).rejects.toMatchObject({
      code: "NOT_JSON",
      message: expect.stringContaining('result of node "a".log is a function') as string,
    });
    await expect(run("text")).rejects.toMatchObject({ code: "INVALID_GRAPH_NODE_RETURN_VALUE" });
    await expect(run([1])).rejects.toThrow("an array without a command");
    await expect(run({ $command: { update: 1 } })).rejects.toThrow("allowed is an object");
    await expect(run({ $command: { goto: 1 } })).rejects.toThrow(
      "allowed is the name of a node, END, a send or a wait",
    );
    await expect(run({ $command: { goto: "no" } })).rejects.toThrow('leads to unknown node "no"');
    await expect(run({ $send: { node: "no", arg: 1 } })).rejects.toThrow(
      'send of node "a" leads to unknown node "no"',
    );
    await expect(run({ $command: { graph: "PARENT" } })).rejects.toThrow("there is none");
    await expect(run([{ $command: {} }, 5])).rejects.toThrow("returned number");
    expect((await run([{ $command: {} }, null, { log: "x" }])).values).toEqual({ log: ["x"] });
    expect((await run(0)).status).toBe("done");
  });

  it("of a send's argument names the node that it is for", async () => {
    const graph = begin()
      .node("w", { arg: schema<{ i: number }>({ required: ["i"] }) })
      .route(START, ["w"], { name: "fan" })
      .build();
    const code = implement(graph, {
      nodes: { w: ({ i }) => ({ n: i }) },
      routes: { fan: () => send("w", {} as never) },
    });
    await expect(createRunner(code).invoke({})).rejects.toThrow('argument of send to "w".i is missing');
  });

  it("of a route names the answers that it may give", async () => {
    const graph = begin().node("a").edge(START, "a").route("a", { on: "a", off: END }, { name: "r" }).build();
    const run = (answer: unknown) =>
      createRunner(
        implement(graph, { nodes: { a: () => null }, routes: { r: () => answer as "off" } }),
      ).invoke({});
    await expect(run("no")).rejects.toThrow(
      'route "r" answered "no"; allowed are "on", "off", sends and waits',
    );
    await expect(run([7])).rejects.toThrow('route "r" answered 7');
    expect((await run(["off", "off"])).status).toBe("done");
  });

  it("of the surroundings fails the call", async () => {
    const cache: Cache = {
      get: () => Promise.reject(new Error("cache is down")),
      set: async () => undefined,
    };
    const code = parallel({ a: () => null, b: () => never }, { a: { cache: true } });
    const signalled = parallel(
      {
        a: () => null,
        b: (_i, { signal }) => new Promise((_r, reject) => signal.addEventListener("abort", reject)),
      },
      { a: { cache: true } },
    );
    expect(code.graph.manifest.nodes).toHaveProperty("b");
    await expect(createRunner(signalled, { cache }).invoke({})).rejects.toThrow("cache is down");
  });
});

describe("a cache", () => {
  it("gives the result of a node for the same input, or the same fields of it, as long as it lasts", async () => {
    let now = 0;
    let calls = 0;
    const graph = begin()
      .node("a", { cache: { ttl: "1s", key: ["n"] } })
      .edge(START, "a")
      .build();
    const code = implement(graph, { nodes: { a: ({ n }) => ({ log: `${n} ${++calls}` }) } });
    const runner = createRunner(code, { cache: createMemoryCache(() => now) });
    const run = async (n: number, thread: string) =>
      (await runner.invoke({ n, log: thread }, { thread })).values!.log![1];
    expect(await run(1, "a")).toBe("1 1");
    expect(await run(1, "b")).toBe("1 1");
    expect(await run(2, "c")).toBe("2 2");
    now = 1001;
    expect(await run(1, "d")).toBe("1 3");
    const [chunk] = await collect(runner.stream({ input: { n: 1 } }, { thread: "e" }));
    expect(chunk!.data).toEqual({ a: { log: "1 3" }, __metadata__: { cached: true } });
  });

  it("for ever, by the whole input", async () => {
    let calls = 0;
    const code = parallel({ a: () => ({ n: ++calls }) }, { a: { cache: true } });
    const runner = createRunner(code);
    expect((await runner.invoke({}, { thread: "a" })).values).toMatchObject({ n: 1 });
    expect((await runner.invoke({}, { thread: "b" })).values).toMatchObject({ n: 1 });
  });
});

describe("limits of a call", () => {
  it("keep no more tasks in flight than allowed, and drop none", async () => {
    let open = 0;
    let most = 0;
    const w: Code = async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return { log: "w" };
    };
    const code = parallel({ a: w, b: w, c: w, d: w, e: w });
    for (const maxConcurrency of [1, 2]) {
      most = 0;
      const { values } = await createRunner(code).invoke({}, { maxConcurrency });
      expect([most, (values as { log: string[] }).log.length]).toEqual([maxConcurrency, 5]);
    }
  });

  it("end a run that needs too many steps, and a continue has a new budget", async () => {
    const graph = begin().node("a").edge(START, "a").route("a", ["a", END], { name: "on" }).build();
    const code = implement(graph, {
      nodes: { a: ({ n }) => ({ n: n + 1 }) },
      routes: { on: ({ n }) => (n < 6 ? "a" : END) },
    });
    const runner = createRunner(code, { recursionLimit: 4 });
    await expect(runner.invoke({ n: 0 })).rejects.toMatchObject({ code: "GRAPH_RECURSION_LIMIT" });
    expect((await runner.state()).status).toBe("outOfSteps");
    expect((await runner.continue()).values).toMatchObject({ n: 6 });
    await expect(runner.invoke({ n: 0 }, { recursionLimit: 0 })).rejects.toThrow("recursionLimit is 0");
  });

  it("by a signal stop it, and what finished is kept", async () => {
    const stop = new AbortController();
    const calls: string[] = [];
    const nodes: Record<string, Code> = {
      a: () => void calls.push("a"),
      b: (_input, { signal }) => {
        calls.push("b");
        if (calls.length > 2) return null;
        stop.abort(new Error("enough"));
        return new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason as Error);
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    };
    const runner = createRunner(parallel(nodes));
    await expect(runner.invoke({}, { signal: stop.signal })).rejects.toThrow("enough");
    await runner.continue();
    expect(calls).toEqual(["a", "b", "b"]);
    await expect(
      runner.invoke({}, { signal: AbortSignal.abort(new Error("before it began")) }),
    ).rejects.toThrow("before it began");
  });

  it("by a drain stop it at the next step, from inside or outside", async () => {
    const graph = begin().node("a").node("b").edge(START, "a").edge("a", "b").build();
    const nodes = (inside: boolean) => ({
      a: (_state: unknown, context: TaskContext) => {
        if (inside) context.drain();
        return { log: "a" };
      },
      b: () => ({ log: "b" }),
    });
    for (const inside of [true, false]) {
      const runner = createRunner(implement(graph, { nodes: nodes(inside) }));
      const call = runner.invoke({}, inside ? {} : { drain: () => "deploy" });
      await expect(call).rejects.toMatchObject({
        name: "GraphDrained",
        message: `Graph drained: ${inside ? "shutdown" : "deploy"}`,
      });
      expect(await runner.state()).toMatchObject({ status: "drained", next: ["b"] });
      expect((await runner.continue()).values).toEqual({ log: ["a", "b"] });
    }
  });

  it("allow one call at a time on a thread", async () => {
    const runner = createRunner(parallel({ a: () => null }));
    const [first, second] = await Promise.allSettled([runner.invoke({}), runner.invoke({})]);
    expect(first.status).toBe("fulfilled");
    expect(second).toMatchObject({ status: "rejected", reason: { name: "ThreadBusyError" } });
  });
});

describe("several inputs", () => {
  it("run on threads of their own", async () => {
    const graph = begin().node("a").edge(START, "a").build();
    const runner = createRunner(implement(graph, { nodes: { a: ({ n }) => ({ n: n * 2 }) } }));
    expect(
      (await runner.batch([{ n: 1 }, { n: 2 }], { thread: "t" })).map(({ values }) => values!.n),
    ).toEqual([2, 4]);
    expect((await runner.state({ thread: "t/1" })).values).toMatchObject({ n: 4 });
  });
});

describe("streams", () => {
  const talk = defineGraph({
    name: "talk",
    version: "1",
    state: { messages: messages(), log: append<string>() },
    output: ["log"],
  })
    .node("a")
    .edge(START, "a")
    .build();
  const code = implement(talk, {
    nodes: {
      a: (_state, context) => {
        context.message({ part: "he" });
        context.message({ part: "llo" });
        context.write({ half: true });
        return [{ $command: { update: { log: "1" } } }, { messages: "hi", log: "2" }];
      },
    },
  });

  it("show what each mode is about", async () => {
    const modes = ["messages", "custom", "updates", "values", "tasks", "checkpoints", "debug"] as const;
    const chunks = await collect(createRunner(code).stream({ input: {} }, { modes }));
    const of = (wanted: string) => chunks.filter(({ mode }) => mode === wanted).map(({ data }) => data);
    expect(of("messages")).toEqual([{ part: "he" }, { part: "llo" }]);
    expect(of("custom")).toEqual([{ half: true }]);
    expect(of("updates")).toMatchObject([
      { a: [{ log: "1" }, { messages: { content: "hi", role: "user" } }, { log: "2" }] },
    ]);
    expect(of("values")).toMatchObject([{ log: ["1", "2"], messages: [{ content: "hi" }] }]);
    expect(of("tasks")).toMatchObject([
      { name: "a", triggers: ["branch:to:a"], input: { log: [], messages: [] } },
      { name: "a", result: { log: { $writes: ["1", "2"] } }, interrupts: [], error: null },
    ]);
    expect(of("checkpoints")).toMatchObject([
      { step: -1, source: "input", next: ["__start__"], parentCheckpointId: null },
      { step: 0, next: ["a"] },
      { step: 1, next: [], values: { log: ["1", "2"] } },
    ]);
    expect(of("debug").map((data) => (data as { type: string }).type)).toEqual([
      "checkpoint",
      "checkpoint",
      "task",
      "task_result",
      "checkpoint",
    ]);
    expect((await createRunner(code).invoke({})).values).toEqual({ log: ["1", "2"] });
  });

  it("show no checkpoints where none are kept", async () => {
    expect(
      await collect(
        createRunner(code, { checkpointer: false }).stream({ input: {} }, { modes: "checkpoints" }),
      ),
    ).toEqual([]);
  });

  it("fail when the run fails, after what came before", async () => {
    const failing = parallel({ a: () => Promise.reject(new Error("boom")) });
    const chunks: unknown[] = [];
    await expect(
      (async () => {
        for await (const chunk of createRunner(failing).stream(
          { input: { log: "in" } as never },
          { modes: "values" },
        ))
          chunks.push(chunk.data);
      })(),
    ).rejects.toThrow("boom");
    expect(chunks).toEqual([{ log: ["in"] }]);
  });

  it("stop the run when their reader stops", async () => {
    let stopped!: () => void;
    const ended = new Promise<void>((resolve) => (stopped = resolve));
    const graph = begin().node("a").node("b").edge(START, "a").edge("a", "b").build();
    const stoppable = implement(graph, {
      nodes: {
        a: () => ({ log: "a" }),
        b: (_state, { signal }) =>
          new Promise<null>((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              stopped();
              reject(new Error("stopped"));
            });
          }),
      },
    });
    for await (const { data } of createRunner(stoppable).stream(
      { input: {} },
      { signal: new AbortController().signal },
    )) {
      expect(data).toEqual({ a: { log: "a" } });
      break;
    }
    await ended;
  });
});

describe("the store", () => {
  it("is shared by threads and searched by namespace", async () => {
    const store = createMemoryStore();
    const graph = begin().node("a").edge(START, "a").build();
    const code = implement(graph, {
      nodes: {
        a: async (_state, context) => {
          const key = context.threadId;
          await context.store.put(["users", key], "seen", { at: context.step });
          return { log: String((await context.store.search(["users"])).length) };
        },
      },
    });
    const runner = createRunner(code, { store });
    await runner.invoke({}, { thread: "ann" });
    expect((await runner.invoke({}, { thread: "bob" })).values!.log).toEqual(["2"]);
    expect(await store.get(["users", "ann"], "seen")).toEqual({ at: 1 });
    expect(await store.search(["users"], { limit: 1, offset: 1 })).toMatchObject([
      { namespace: ["users", "bob"] },
    ]);
    expect(await store.listNamespaces(["users"])).toEqual([
      ["users", "ann"],
      ["users", "bob"],
    ]);
    expect(await store.listNamespaces()).toHaveLength(2);
    await store.delete(["users", "ann"], "seen");
    expect(await store.get(["users", "ann"], "seen")).toBeUndefined();
    expect(await store.search(["users", "ann"])).toEqual([]);
  });
});
