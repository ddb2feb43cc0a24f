import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";
import { workflowsPath } from "../../services/worker/create-worker.js";

let made: Promise<WorkflowBundle> | undefined;

/** Made once for a test file: it takes longer than most tests. */
export function workflowBundle(): Promise<WorkflowBundle> {
  made ??= bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("WARN") });
  return made;
}
