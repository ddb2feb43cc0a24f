import type { TestProject } from "vitest/node";
import { openRun, startTemporal } from "../../platform/index.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** host:port of a development server with the namespace `default`. Test files share it: use own task queues. */
    temporalAddress: string;
  }
}

/** One development server for all test files: the one that TEMPORAL_ADDRESS names, or one that ends with the tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // The test runner handles Ctrl-C itself; the guardian cleans up when it is gone.
  const run = await openRun({ name: "test-temporal", handleSignals: false });
  try {
    // By default the server looks at its timers in batches, up to a second late; tests would mostly wait for that.
    const dynamicConfig = { "history.timerProcessorMaxTimeShift": "1ms" };
    const server = await startTemporal(run, { name: "tests", dynamicConfig });
    project.provide("temporalAddress", server.address);
  } catch (error) {
    await run.close();
    throw error;
  }
  return () => run.close();
}
