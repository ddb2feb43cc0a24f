import * as library from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { fanOut, loop } from "../../../cli/bench/graph-workloads.js";
import { createMemoryCheckpointer } from "../../../graph/local/memory-checkpointer.js";

describe.each([loop(7), fanOut(5, 3)])("the workload $name", (workload) => {
  it("comes to the same end on both engines", async () => {
    await expect(workload.core()).resolves.toBeUndefined();
    await expect(workload.langgraph(library)()).resolves.toBeUndefined();
  });
});

it("keeps every step of a run", async () => {
  const checkpointer = createMemoryCheckpointer();
  await loop(7).core(checkpointer);
  // The input, START, and the steps.
  expect(await checkpointer.list("default")).toHaveLength(1 + 1 + 7);
});

it("counts tasks as the engine runs them", () => {
  expect(loop(7).tasks).toBe(7);
  expect(fanOut(5, 3).tasks).toBe(5 * 3 + 3 + 1);
});
