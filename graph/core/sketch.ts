import { view } from "./channels.js";
import type { Head } from "./checkpoint.js";
import type { CompiledGraph } from "./compile.js";
import type { TaskSketch } from "./events.js";
import type { Json } from "./json.js";
import { isStart, prepare, type Prepared } from "./prepare.js";

/** What the task's code gets: the argument of its send, or the keys of the state that it sees. */
export function inputOf(graph: CompiledGraph, head: Head, task: Prepared): Json {
  return task.arg ?? view(graph, head.values, task.node.input);
}

/** The tasks of the step that an event is about: the names of all, and what streams show of them. */
export function stepTasks(
  graph: CompiledGraph,
  head: Head,
): { readonly next: readonly string[]; readonly tasks: readonly TaskSketch[] } {
  const tasks = prepare(graph, head);
  return {
    next: tasks.map((task) => task.node.name),
    tasks: tasks.filter((task) => !isStart(task)).map((task) => sketch(graph, head, task)),
  };
}

/** The task as streams show it. */
export function sketch(graph: CompiledGraph, head: Head, task: Prepared): TaskSketch {
  return { id: task.id, name: task.node.name, triggers: task.triggers, input: inputOf(graph, head, task) };
}
