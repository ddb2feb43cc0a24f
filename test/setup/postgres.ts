import type { TestProject } from "vitest/node";
import { openRun, startPostgres } from "../../platform/index.js";
import { dropLedgerTemplates } from "../support/database-template.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of a user who may create databases. Each test file makes its own. */
    postgresUrl: string;
  }
}

/** One server for all test files: the one that DATABASE_URL names, or an embedded one that ends with the tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given);
    return () => dropLedgerTemplates(given);
  }
  // The test runner handles Ctrl-C itself; the guardian cleans up when it is gone.
  const run = await openRun({ name: "test-postgres", handleSignals: false });
  try {
    // Nothing that these tests show depends on what a power failure would leave on the disk.
    const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
    const postgres = await startPostgres(run, { name: "tests", settings });
    project.provide("postgresUrl", postgres.url);
  } catch (error) {
    await run.close();
    throw error;
  }
  return () => run.close();
}
