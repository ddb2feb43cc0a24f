import type { Frame } from "./checkpoint.js";
import { withoutUntracked } from "./child.js";
import type { CompiledGraph } from "./compile.js";
import { enterStep, nextHead } from "./move.js";
import { reductions, type ReduceNeed } from "./reduce.js";
import type { Working } from "./working.js";
import { groupWrites, write, type Applied } from "./write.js";

function changeOf(frame: Frame): readonly Applied[] {
  return [{ node: undefined, triggers: [], result: frame.change!.result, fires: false }];
}

/** The reductions that a change from outside waits for. */
export function changeNeeds(graph: CompiledGraph, frame: Frame): readonly ReduceNeed[] {
  return reductions(graph, frame, frame.head.values, groupWrites(changeOf(frame)), "change").needs;
}

/**
 * Applies a change from outside as soon as its reducers have run. The step doesn't count, so what was to run still is.
 *
 * @param options.enters true: also looks at the next step; false: the caller does
 * @throws GraphError `InvalidUpdateError`
 */
export function applyChange(work: Working, namespace: string, options: { readonly enters: boolean }): void {
  const frame = work.frame(namespace)!;
  const graph = work.graph(frame);
  const { change, ...rest } = frame;
  const applied = changeOf(frame);
  const { values, needs } = reductions(graph, frame, frame.head.values, groupWrites(applied), "change");
  if (needs.length > 0) return;
  const before = { ...frame.head, values: withoutUntracked(graph, frame.head.values) };
  const { body } = write(graph, before, applied, { counts: false, reduced: values });
  if (change!.branch === undefined) {
    work.set(namespace, { ...rest, head: { ...frame.head, ...body, passed: body.version } });
  } else {
    const next = nextHead(work, frame, { body, written: [], source: "input", branch: change!.branch });
    const head = { ...next, passed: body.version };
    work.set(namespace, { ...rest, branch: change!.branch, head, pending: {} });
    work.committed(namespace, []);
  }
  if (!options.enters) return;
  work.events.push({ type: "resumed", namespace, head: work.frame(namespace)!.head });
  enterStep(work, namespace, graph);
}
