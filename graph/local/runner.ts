import type { GraphCode } from "../core/code.js";
import { GraphError } from "../core/errors.js";
import type { GraphTypes } from "../core/types.js";
import type { Runner, RunnerOptions } from "./types.js";

/** Runs a graph in this process, without Temporal. */
export function createRunner<T extends GraphTypes>(
  code: GraphCode<T>,
  options: RunnerOptions = {},
): Runner<T> {
  void options;
  throw new GraphError("GraphCodeError", `graph "${code.graph.name}" can't be run yet`);
}
