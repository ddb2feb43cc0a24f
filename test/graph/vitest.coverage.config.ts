import { defineConfig } from "vitest/config";

/**
 * How much of the graph core its tests go through. The random graphs and the bare context are left out: the first would
 * count branches as tested whose results nobody wrote down, the second runs a bundle that no line of the source stands for.
 */
export default defineConfig({
  test: {
    include: ["test/graph/{core,local,cases}/**/*.test.ts"],
    testTimeout: 30_000,
    maxWorkers: 2,
    coverage: {
      enabled: true,
      provider: "v8",
      include: ["graph/core/**"],
      reporter: ["text", "json"],
      reportsDirectory: "coverage/graph",
      // Below this a whole rule of the semantics can go untested; the rest are guards against states that no run reaches.
      thresholds: { branches: 95 },
    },
  },
});
