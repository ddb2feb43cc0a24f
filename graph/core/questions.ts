import type { Asked, Checkpoint, Frame } from "./checkpoint.js";
import { childNamespace } from "./child.js";
import type { Program } from "./compile.js";
import { GraphError } from "./errors.js";
import { hashId } from "./hash.js";
import { handlerId, prepare } from "./prepare.js";
import type { Question, UnreleasedJoin, WaitView } from "./view.js";
import type { Arrivals } from "./prepare.js";

/** Id of a question: the place of the call among the task's. */
export function questionId(taskId: string, ordinal: number): string {
  return hashId(taskId, "question", String(ordinal));
}

/** The task that asks, and the question as it recorded it. */
export interface OpenQuestion {
  readonly namespace: string;
  readonly taskId: string;
  readonly node: string;
  readonly asked: Asked;
}

function openOf(frame: Frame, namespace: string, node: string, taskId: string): OpenQuestion[] {
  const record = frame.pending[taskId];
  return record?.status === "asked" ? record.asked.map((asked) => ({ namespace, taskId, node, asked })) : [];
}

/** The frames that stand for running tasks, from `namespace` down, in the order of their tasks. */
export function* framesBelow(
  program: Program,
  checkpoint: Checkpoint,
  namespace: string,
): Iterable<readonly [string, Frame]> {
  const frame = checkpoint.frames[namespace]!;
  yield [namespace, frame];
  const graph = program.graphs.get(frame.path)!;
  for (const task of prepare(graph, frame.head)) {
    if (task.node.subgraph === undefined) continue;
    const child = childNamespace(namespace, graph, task);
    if (checkpoint.frames[child]?.parent?.task === task.id) yield* framesBelow(program, checkpoint, child);
  }
}

/** The open questions of a frame and all below it, in the order of their tasks. */
export function openQuestions(program: Program, checkpoint: Checkpoint, namespace = ""): OpenQuestion[] {
  if (checkpoint.frames[namespace] === undefined) return [];
  return [...framesBelow(program, checkpoint, namespace)].flatMap(([name, frame]) =>
    prepare(program.graphs.get(frame.path)!, frame.head).flatMap((task) => [
      ...openOf(frame, name, task.node.name, task.id),
      ...openOf(frame, name, task.node.name, handlerId(task.id)),
    ]),
  );
}

/** A question as people read it. */
export function question({ namespace, taskId, node, asked }: OpenQuestion): Question {
  return {
    id: asked.id,
    value: asked.value,
    node,
    namespace,
    taskId,
    ...(asked.schema !== undefined && { schema: asked.schema }),
    ...(asked.deadlineMs !== undefined && { deadlineMs: asked.deadlineMs }),
  };
}

/** The open questions of a run. */
export function questionsOf(program: Program, checkpoint: Checkpoint): Question[] {
  return openQuestions(program, checkpoint).map(question);
}

/** The waits for events of a run. */
export function waitsOf(program: Program, checkpoint: Checkpoint): WaitView[] {
  if (checkpoint.frames[""] === undefined) return [];
  return [...framesBelow(program, checkpoint, "")].flatMap(([namespace, frame]) =>
    frame.head.waits.map((wait) => ({
      id: wait.id,
      event: wait.event,
      resume: wait.resume,
      namespace,
      ...(wait.deadlineMs !== undefined && { deadlineMs: wait.deadlineMs }),
    })),
  );
}

/** The joins that some of their nodes have reached and others haven't. */
export function unreleasedJoins(program: Program, frame: Frame, namespace: string): UnreleasedJoin[] {
  const graph = program.graphs.get(frame.path)!;
  return [...graph.joins.values()].flatMap((join) => {
    const held = frame.head.control[join.channel] as unknown as Arrivals | undefined;
    if (held === undefined || held.arrived.length === join.from.length) return [];
    const missing = join.from.filter((name) => !held.arrived.includes(name));
    return [{ namespace, to: join.to, arrived: held.arrived, missing }];
  });
}

/** The question that an answer is for. */
export function findQuestion(open: readonly OpenQuestion[], id: string): OpenQuestion {
  const found = open.find(({ asked }) => asked.id === id);
  if (found === undefined)
    throw new GraphError(
      "UnknownInterruptError",
      `question "${id}" isn't open; open are: ${open.map(({ asked }) => asked.id).join(", ") || "none"}`,
    );
  return found;
}
