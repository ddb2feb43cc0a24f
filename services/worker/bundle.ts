/**
 * Makes the workflow bundle once for all workers:
 *
 *     node dist/services/worker/bundle.js FILE
 *
 * Written beside the target and renamed, so that a worker never reads half of it.
 */
import { rename, writeFile } from "node:fs/promises";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { workflowsPath } from "./create-worker.js";

export async function bundleWorkflows(file: string): Promise<void> {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("WARN") });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, code);
  await rename(unfinished, file);
}

const called = process.argv[1] === import.meta.filename;
if (called) {
  const [, , file] = process.argv;
  if (file === undefined) {
    process.stderr.write("FILE is missing; allowed: the path to write the bundle to.\n");
    process.exitCode = 2;
  } else {
    await bundleWorkflows(file);
  }
}
