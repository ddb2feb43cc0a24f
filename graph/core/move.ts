import { view } from "./channels.js";
import type { Frame, Head } from "./checkpoint.js";
import type { CompiledGraph, CompiledNode } from "./compile.js";
import { hashId } from "./hash.js";
import { START } from "./markers.js";
import { prepare, type Prepared } from "./prepare.js";
import type { Body } from "./write.js";
import type { Working } from "./working.js";

/** What a new head is made from. */
export interface NextHead {
  readonly body: Body;
  readonly written: readonly string[];
  readonly source: Head["source"];
  readonly branch: string;
}

/** The head after another one. */
export function nextHead(work: Working, frame: Frame, next: NextHead): Head {
  const { body } = next;
  const step = frame.head.step + 1;
  // Field by field: this runs at every step, and a spread of this size costs several times as much.
  return {
    id: hashId(work.base.run, next.branch, String(step)),
    parentId: frame.head.id === "" ? null : frame.head.id,
    step,
    source: next.source,
    values: body.values,
    control: body.control,
    sends: body.sends,
    waits: body.waits,
    deliveries: body.deliveries,
    versions: body.versions,
    seen: body.seen,
    version: body.version,
    passed: frame.head.passed,
  };
}

function names(tasks: readonly Prepared[]): readonly CompiledNode[] {
  return tasks.map((task) => task.node);
}

function stopsAt(
  work: Working,
  graph: CompiledGraph,
  side: "interruptBefore" | "interruptAfter",
  head: Head,
  nodes: readonly CompiledNode[],
): boolean {
  const stops = graph.path === "" ? work.base[side] : (graph.manifest[side] ?? []);
  if (stops.length === 0 || head.version <= head.passed) return false;
  return nodes.some((node) => (stops === "*" ? node.name !== START : stops.includes(node.name)));
}

/** Makes the new head the frame's and decides whether its next step may begin. */
export function moveOn(work: Working, namespace: string, graph: CompiledGraph, next: NextHead): boolean {
  const before = work.frame(namespace)!;
  const head = nextHead(work, before, next);
  const ended = names(prepare(graph, before.head));
  const output =
    namespace !== "" && next.written.some((key) => graph.output.has(key))
      ? view(graph, head.values, graph.output)
      : before.output;
  work.set(namespace, {
    path: before.path,
    parent: before.parent,
    branch: next.branch,
    head,
    stop: before.stop,
    status: "running",
    pending: {},
    ...(output !== undefined && { output }),
  });
  work.committed(namespace, next.written);
  if (stopsAt(work, graph, "interruptAfter", head, ended)) {
    work.patch(namespace, { status: "breakpoint" });
    return false;
  }
  return enterStep(work, namespace, graph);
}

function outOfSteps(work: Working, namespace: string): boolean {
  const message =
    `recursion limit of ${work.base.recursionLimit} reached without coming to an end; ` +
    `a higher recursionLimit allows more steps`;
  if (namespace === "") work.patch(namespace, { status: "outOfSteps" });
  else
    work.patch(namespace, {
      error: { name: "GraphRecursionError", message, code: "GRAPH_RECURSION_LIMIT" },
    });
  return false;
}

/** Why the next step is not to begin. */
function stopReason(
  work: Working,
  graph: CompiledGraph,
  head: Head,
  tasks: readonly Prepared[],
): "breakpoint" | "drained" | undefined {
  if (stopsAt(work, graph, "interruptBefore", head, names(tasks))) return "breakpoint";
  return work.base.drain === undefined ? undefined : "drained";
}

/** Looks at the next step of a frame whose head has just come about, or is taken up again. */
export function enterStep(work: Working, namespace: string, graph: CompiledGraph): boolean {
  const frame = work.frame(namespace)!;
  const { head } = frame;
  if (head.step + 1 > frame.stop) return outOfSteps(work, namespace);
  const tasks = prepare(graph, head);
  const begins = (isShown: boolean) =>
    work.events.push({ type: "step", namespace, path: frame.path, head, begins: isShown });
  if (tasks.length === 0) {
    begins(false);
    if (head.waits.length === 0) work.patch(namespace, { status: "done" });
    return false;
  }
  const isOpen = tasks.some((task) => frame.pending[task.id]?.status !== "done");
  // A step whose tasks have all ended is applied, whatever stops stand before it.
  const stopped = isOpen ? stopReason(work, graph, head, tasks) : undefined;
  begins(stopped === undefined);
  if (stopped !== undefined) work.patch(namespace, { status: stopped });
  return stopped === undefined;
}
