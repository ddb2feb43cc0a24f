import { defineConfig } from "vitest/config";

/** The tests that a mutation of the interpreter has to get past: those that need nothing else, so that each run is short. */
export default defineConfig({
  test: {
    include: [
      "test/graph/core/{supersteps,standing,task}.test.ts",
      "test/graph/cases/each-case.test.ts",
      "test/graph/local/{edits,events,nested,running,object-state}.test.ts",
    ],
    testTimeout: 10_000,
  },
});
