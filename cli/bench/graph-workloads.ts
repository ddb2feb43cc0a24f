import { defineGraph } from "../../graph/core/define.js";
import { implement } from "../../graph/core/implement.js";
import { END, send, START } from "../../graph/core/markers.js";
import { last, sum } from "../../graph/core/state.js";
import { createMemoryCheckpointer } from "../../graph/local/memory-checkpointer.js";
import { createRunner } from "../../graph/local/runner.js";
import type * as LangGraphModule from "@langchain/langgraph";
import type { Checkpointer } from "../../graph/local/checkpointer.js";

/** A graph that is the same on both engines, so that the time it takes is the engine's own: its nodes do next to nothing. */
export interface Workload {
  readonly name: string;
  /** Tasks of nodes in one run. */
  readonly tasks: number;
  /** Runs once on a new thread with a new saver. */
  core(checkpointer?: Checkpointer): Promise<void>;
  /** Compiles once and gives what runs once on a new thread with a new saver. */
  langgraph(library: LangGraph): () => Promise<void>;
}

export type LangGraph = typeof LangGraphModule;

/** One node that runs `steps` times, each in a step of its own. */
export function loop(steps: number): Workload {
  const graph = defineGraph({
    name: "bench-loop",
    version: "1",
    state: { count: last<number>({ default: 0 }) },
  })
    .node("work")
    .edge(START, "work")
    .route("work", ["work", END])
    .build();
  const code = implement(graph, {
    nodes: { work: ({ count }) => ({ count: count + 1 }) },
    routes: { work: ({ count }) => (count < steps ? "work" : END) },
  });
  return {
    name: `loop of ${steps} steps`,
    tasks: steps,
    async core(checkpointer = createMemoryCheckpointer()) {
      const runner = createRunner(code, { recursionLimit: steps + 1, checkpointer });
      const { values } = await runner.invoke({ count: 0 });
      mustBe(values?.count, steps);
    },
    langgraph(library) {
      const { Annotation, StateGraph, MemorySaver } = library;
      const builder = new StateGraph(Annotation.Root({ count: Annotation<number>() }))
        .addNode("work", ({ count }) => ({ count: count + 1 }))
        .addEdge(library.START, "work")
        .addConditionalEdges("work", ({ count }) => (count < steps ? "work" : library.END), [
          "work",
          library.END,
        ]);
      return async () => {
        const compiled = builder.compile({ checkpointer: new MemorySaver() });
        const config = { configurable: { thread_id: "bench" }, recursionLimit: steps + 1 };
        mustBe((await compiled.invoke({ count: 0 }, config)).count, steps);
      };
    },
  };
}

/** Rounds of `width` parallel tasks, each round started by one task that sends them. */
export function fanOut(width: number, rounds: number): Workload {
  const items = Array.from({ length: width }, (_, item) => item);
  const graph = defineGraph({
    name: "bench-fan-out",
    version: "1",
    state: { round: sum(), done: sum() },
  })
    .node("hub")
    .node("work")
    .edge(START, "hub")
    .route("hub", ["work", END])
    .edge("work", "hub")
    .build();
  const code = implement(graph, {
    nodes: {
      hub: () => ({ round: 1 }),
      work: () => ({ done: 1 }),
    },
    routes: {
      hub: ({ round }) => (round > rounds ? END : items.map((item) => send("work", { done: item }))),
    },
  });
  return {
    name: `fan-out of ${width} over ${rounds} steps`,
    tasks: width * rounds + rounds + 1,
    async core(checkpointer = createMemoryCheckpointer()) {
      const runner = createRunner(code, { recursionLimit: rounds * 2 + 3, checkpointer });
      const { values } = await runner.invoke({});
      mustBe(values?.done, width * rounds);
    },
    langgraph(library) {
      const { Annotation, StateGraph, MemorySaver, Send } = library;
      const added = () =>
        Annotation<number>({ reducer: (current, update) => current + update, default: () => 0 });
      const builder = new StateGraph(Annotation.Root({ round: added(), done: added() }))
        .addNode("hub", () => ({ round: 1 }))
        .addNode("work", () => ({ done: 1 }))
        .addEdge(library.START, "hub")
        .addConditionalEdges(
          "hub",
          ({ round }) =>
            round > rounds ? library.END : items.map((item) => new Send("work", { done: item })),
          ["work", library.END],
        )
        .addEdge("work", "hub");
      return async () => {
        const compiled = builder.compile({ checkpointer: new MemorySaver() });
        const config = { configurable: { thread_id: "bench" }, recursionLimit: rounds * 2 + 3 };
        mustBe((await compiled.invoke({}, config)).done, width * rounds);
      };
    },
  };
}

/** A benchmark of a run that went wrong would say nothing. */
function mustBe(actual: unknown, expected: unknown): void {
  if (actual !== expected)
    throw new Error(`the workload ended with ${String(actual)} in place of ${String(expected)}`);
}
