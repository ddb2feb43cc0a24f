import type { Frame, Result } from "./checkpoint.js";
import type { CompiledGraph, CompiledNode } from "./compile.js";
import { errorData, type ErrorData } from "./errors.js";
import { hashId } from "./hash.js";
import { nextHead } from "./move.js";
import { removeBelow } from "./child.js";
import { applyOrder, handlerId, prepare, type Prepared } from "./prepare.js";
import { reductions, type ReduceNeed } from "./reduce.js";
import { resultOf } from "./result.js";
import { groupWrites, write, type Applied, type Body } from "./write.js";
import type { Working } from "./working.js";

/** Id of the task that runs the routes for an entry of an update. */
export function updateTaskId(frame: Frame, index: number): string {
  return hashId(frame.update!.branch, "update", String(index));
}

/** The finished tasks of the running step, ready to be applied. */
export function finishedTasks(frame: Frame, tasks: readonly Prepared[]): Applied[] {
  return applyOrder(tasks).flatMap((task): Applied[] => {
    const record = frame.pending[task.id];
    const handler = frame.pending[handlerId(task.id)];
    const result =
      record?.status === "done" ? record.result : handler?.status === "done" ? handler.result : undefined;
    if (result === undefined) return [];
    const isNode = task.kind === "node";
    return [
      {
        node: isNode ? task.node : undefined,
        triggers: isNode ? task.triggers : [],
        result,
        fires: isNode && record?.status === "done",
      },
    ];
  });
}

/** The state with the finished tasks of the running step in it, or the reductions that it needs first. */
export function withFinished(
  graph: CompiledGraph,
  frame: Frame,
): { readonly body: Body } | { readonly needs: readonly ReduceNeed[] } {
  const applied = finishedTasks(frame, prepare(graph, frame.head));
  if (applied.length === 0) return { body: frame.head };
  const { values, needs } = reductions(graph, frame, frame.head.values, groupWrites(applied), "finished");
  if (needs.length > 0) return { needs };
  return { body: write(graph, frame.head, applied, { counts: true, reduced: values }).body };
}

/** A step of an update by hand: what it waits for, or what it comes to. */
export type UpdateStage =
  | { readonly needs: readonly ReduceNeed[] }
  /** Entries whose routes are still to run, on this state. */
  | {
      readonly routes: readonly {
        readonly index: number;
        readonly id: string;
        readonly node: CompiledNode;
        readonly result: Result;
      }[];
      readonly body: Body;
    }
  | { readonly body: Body; readonly written: readonly string[] };

/** @throws GraphError when the values can't be applied */
export function updateStage(graph: CompiledGraph, frame: Frame): UpdateStage {
  const update = frame.update!;
  const base = update.takesFinished ? withFinished(graph, frame) : { body: frame.head };
  if ("needs" in base) return base;
  const entries = update.updates.map(({ node: name, values }, index) => {
    const id = updateTaskId(frame, index);
    const node = graph.nodes.get(name)!;
    const record = frame.pending[id];
    const result =
      record?.status === "done" ? record.result : resultOf(graph, node, values, id, `update as "${name}"`);
    return { index, id, node, result, isDone: record?.status === "done" };
  });
  const routes = entries.filter(({ node, isDone }) => node.routes.length > 0 && !isDone);
  if (routes.length > 0) return { routes, body: base.body };
  const applied = entries.map(({ node, result }) => ({ node, triggers: [], result, fires: true }));
  const { values, needs } = reductions(graph, frame, base.body.values, groupWrites(applied), "update");
  if (needs.length > 0) return { needs };
  return write(graph, base.body, applied, { counts: true, reduced: values });
}

/** What a route or a reducer of the update has thrown. */
function thrownBy(frame: Frame, stage: UpdateStage): ErrorData | undefined {
  const ids =
    "needs" in stage
      ? stage.needs.map((need) => need.id)
      : "routes" in stage
        ? stage.routes.map(({ id }) => id)
        : [];
  for (const id of ids) {
    const record = frame.pending[id];
    if (record?.status === "failed") return record.error;
  }
  return undefined;
}

/** Applies an update as soon as its routes have run. The run then rests. */
export function advanceUpdate(work: Working, namespace: string, frame: Frame, graph: CompiledGraph): boolean {
  try {
    const stage = updateStage(graph, frame);
    if (!("written" in stage)) {
      const error = thrownBy(frame, stage);
      if (error !== undefined) work.patch(namespace, { error });
      return false;
    }
    removeBelow(work, namespace, graph, prepare(graph, frame.head));
    const head = nextHead(work, frame, {
      body: stage.body,
      written: stage.written,
      source: "update",
      branch: frame.update!.branch,
    });
    const { update: _applied, error: _error, command: _command, ...rest } = frame;
    work.set(namespace, { ...rest, branch: frame.update!.branch, head, status: "running", pending: {} });
    work.committed(namespace, stage.written);
  } catch (thrown) {
    work.patch(namespace, { error: errorData(thrown) });
  }
  return false;
}
