import { view } from "./channels.js";
import type { Head } from "./checkpoint.js";
import type { CompiledGraph } from "./compile.js";
import type { TaskSketch } from "./events.js";
import type { Json } from "./json.js";
import type { Prepared } from "./prepare.js";

/** What the task's code gets: the argument of its send, or the keys of the state that it sees. */
export function inputOf(graph: CompiledGraph, head: Head, task: Prepared): Json {
  return task.arg ?? view(graph, head.values, task.node.input);
}

/** The task as streams show it. */
export function sketch(graph: CompiledGraph, head: Head, task: Prepared): TaskSketch {
  return { id: task.id, name: task.node.name, triggers: task.triggers, input: inputOf(graph, head, task) };
}
