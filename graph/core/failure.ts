import type { Frame } from "./checkpoint.js";
import type { CompiledGraph } from "./compile.js";
import type { ErrorData } from "./errors.js";
import { prepare } from "./prepare.js";

/** The one error that stands for several: those that came before anything was aborted, if there are any. */
function combined(
  failures: readonly { readonly error: ErrorData; readonly aborted?: true }[],
): ErrorData | undefined {
  const first = failures.filter((failure) => !failure.aborted);
  const errors = (first.length > 0 ? first : failures.slice(0, 1)).map((failure) => failure.error);
  if (errors.length < 2) return errors[0];
  return {
    name: "AggregateError",
    message: `${errors.length} tasks of a step failed: ${errors.map((error) => error.message).join("; ")}`,
    errors,
  };
}

function hasFailed(frame: Frame): boolean {
  for (const id in frame.pending) if (frame.pending[id]!.status === "failed") return true;
  return false;
}

/** Why the frame can't go on, or undefined: a step that couldn't be applied, or failures that no handler took. */
export function failureOf(graph: CompiledGraph, frame: Frame): ErrorData | undefined {
  if (frame.error !== undefined) return frame.error;
  if (!hasFailed(frame)) return undefined;
  const failed = Object.entries(frame.pending).filter(([, record]) => record.status === "failed");
  const handled = new Set(
    prepare(graph, frame.head)
      .filter((task) => task.kind === "node" && task.node.manifest.onError !== undefined)
      .map((task) => task.id),
  );
  return combined(
    failed.flatMap(([id, record]) => (record.status === "failed" && !handled.has(id) ? [record] : [])),
  );
}
