import { defineConfig } from "vitest/config";

/**
 * A test's file name says what it needs, so that nothing is started for a test that doesn't need it:
 * `*.test.ts` nothing, `*.postgres.test.ts` a database, `*.temporal.test.ts` a Temporal server (and a database),
 * `*.process.test.ts` real processes that are killed.
 */
const needing = (what: string) => `test/**/*.${what}.test.ts`;

export default defineConfig({
  test: {
    // Two cores: more workers only make the tests that watch real processes wait for each other.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [needing("postgres"), needing("temporal"), needing("process")],
          testTimeout: 30_000,
          // As long as a test: a busy machine loads a grammar or a bundle no faster in a hook.
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: "postgres",
          include: [needing("postgres")],
          globalSetup: "test/setup/postgres.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "temporal",
          include: [needing("temporal")],
          globalSetup: ["test/setup/postgres.ts", "test/setup/temporal.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "process",
          include: [needing("process")],
          fileParallelism: false,
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
