import { advance } from "./advance.js";
import type { Checkpoint, Frame, RunStatus, TaskRecord } from "./checkpoint.js";
import type { Program } from "./compile.js";
import type { StepEvent } from "./events.js";
import { failureOf } from "./failure.js";
import { childNamespace } from "./child.js";
import { hasWork, updatedFrame } from "./plan.js";
import { prepare, handlerId } from "./prepare.js";
import { Working } from "./working.js";

/** How a task of `plan` ended. */
export interface Outcome {
  readonly namespace: string;
  readonly taskId: string;
  readonly record: Extract<TaskRecord, { readonly status: "done" | "failed" | "asked" }>;
}

/** A run after something was applied to it, and what happened on the way. */
export interface Applying {
  readonly checkpoint: Checkpoint;
  readonly events: readonly StepEvent[];
}

/** Reasons why frames stand still, gathered over the run. */
interface Reasons {
  asked: boolean;
  breakpoint: boolean;
  drained: boolean;
}

function gather(work: Working, namespace: string, reasons: Reasons): void {
  const frame = work.frame(namespace)!;
  if (frame.status === "breakpoint") reasons.breakpoint = true;
  if (frame.status === "drained") reasons.drained = true;
  const graph = work.graph(frame);
  for (const task of prepare(graph, frame.head)) {
    const record = frame.pending[task.id];
    if (record?.status === "asked" || frame.pending[handlerId(task.id)]?.status === "asked")
      reasons.asked = true;
    if (task.node.subgraph === undefined || record !== undefined) continue;
    const child = childNamespace(namespace, graph, task);
    if (work.frame(child)?.parent?.task === task.id) gather(work, child, reasons);
  }
}

function restingStatus(work: Working, root: Frame): RunStatus {
  if (root.status === "outOfSteps" || root.status === "done") return root.status;
  const reasons: Reasons = { asked: false, breakpoint: false, drained: false };
  gather(work, "", reasons);
  if (reasons.asked) return "interrupted";
  if (reasons.breakpoint) return "breakpoint";
  return reasons.drained ? "drained" : "waiting";
}

/** The status of the run as its frames stand. */
function statusOf(work: Working): RunStatus {
  const root = work.root();
  if (failureOf(work.graph(root), root) !== undefined) return "failed";
  if (hasWork(work.program, (namespace) => work.frame(namespace), "")) return "running";
  return restingStatus(work, root);
}

/**
 * Takes all frames as far as they go and says how the run stands then.
 *
 * @param updating namespace of the frame with an update by hand under way
 */
export function finish(work: Working, updating = updatedFrame(work.base)): Applying {
  if (updating !== undefined) return finishUpdate(work, updating);
  advance(work, "");
  return { checkpoint: work.finish({ status: statusOf(work) }), events: work.events };
}

/** An update by hand leaves the run at rest: only another call goes on. */
function finishUpdate(work: Working, namespace: string): Applying {
  advance(work, namespace);
  const frame = work.frame(namespace)!;
  const isUnderWay = frame.update !== undefined && frame.error === undefined;
  const failed = frame.update !== undefined && frame.error !== undefined;
  const status = isUnderWay ? "running" : failed ? "failed" : restAfterUpdate(work);
  return { checkpoint: work.finish({ status }), events: work.events };
}

function restAfterUpdate(work: Working): RunStatus {
  const root = work.root();
  if (prepare(work.graph(root), root.head).length === 0 && root.head.waits.length === 0) {
    work.patch("", { status: "done" });
    return "done";
  }
  const status = statusOf(work);
  // A subgraph that the update brought to its end waits for nothing but the next call.
  return status === "running" || (status === "waiting" && !hasWaits(work)) ? "breakpoint" : status;
}

function hasWaits(work: Working): boolean {
  return work.namespaces().some((namespace) => work.frame(namespace)!.head.waits.length > 0);
}

/** A record as the run takes it: the root has no graph around it that a command could be for. */
function admitted(checkpoint: Checkpoint, outcome: Outcome): TaskRecord {
  const { record, namespace } = outcome;
  if (record.status !== "done" || record.result.parent === undefined || namespace !== "" || checkpoint.nested)
    return record;
  return {
    status: "failed",
    error: {
      name: "InvalidUpdateError",
      message: "a command is for the graph around this one, and there is none",
    },
    answers: [],
  };
}

/**
 * Takes the outcomes of tasks into the run: records them, applies every step that is complete, and goes on to the
 * next step until something has to be run. Outcomes may come one by one or together, in any order; those of frames
 * that are gone are left out. Neither argument is changed.
 */
export function apply(program: Program, checkpoint: Checkpoint, outcomes: readonly Outcome[]): Applying {
  const work = new Working(program, checkpoint);
  for (const outcome of outcomes) {
    const frame = work.frame(outcome.namespace);
    if (frame === undefined || frame.pending[outcome.taskId]?.status === "done") continue;
    work.record(outcome.namespace, outcome.taskId, admitted(checkpoint, outcome));
  }
  return finish(work);
}
