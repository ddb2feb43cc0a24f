import { updated, view } from "./channels.js";
import type { Result } from "./checkpoint.js";
import type { CodeParts, GraphCode } from "./code.js";
import type { CompiledGraph, CompiledNode, Program } from "./compile.js";
import { errorData, GraphError } from "./errors.js";
import type { Json, JsonObject } from "./json.js";
import { marked, START } from "./markers.js";
import type { Outcome } from "./apply.js";
import { plain } from "./plain.js";
import type { Task } from "./plan.js";
import { sortOut } from "./reducers.js";
import { resultOf, withRoutes } from "./result.js";
import { ParentCommand, Scope, Suspension, type Surroundings } from "./scope.js";
import { groupWrites, noResult } from "./write.js";

/** How an attempt ended; `thrown` is what a failed one threw, for whoever wants to throw it on. */
export interface Attempt {
  readonly record: Outcome["record"];
  readonly thrown?: unknown;
}

type Callable = (...args: unknown[]) => unknown;

/** The code of the graph that a task belongs to. */
export function codeAt(code: GraphCode, path: string): GraphCode {
  if (path === "") return code;
  return path.split("|").reduce<GraphCode>((outer, name) => {
    const inner = outer.parts.subgraphs[name];
    if (inner === undefined)
      throw new GraphError("GraphCodeError", `code of graph "${outer.graph.name}" lacks subgraphs.${name}`);
    return inner;
  }, code);
}

function reduceWith(
  parts: CodeParts,
  name: string,
  current: Json | undefined,
  updates: readonly Json[],
): Json {
  const reducer = parts.reducers[name] as Callable;
  let value = current;
  for (const update of updates)
    value = value === undefined ? update : plain(reducer(value, update), `value of reducer "${name}"`);
  return value!;
}

/** The state with the task's own writes in it, as routes see it: not those of its siblings. */
function freshState(graph: CompiledGraph, parts: CodeParts, state: JsonObject, result: Result): JsonObject {
  const values: Record<string, Json> = { ...state };
  for (const [key, writes] of groupWrites([{ node: undefined, triggers: [], result, fires: false }])) {
    const rule = graph.channels.get(key)!;
    const folding = rule.reducer === "custom" ? sortOut(values[key], writes, key) : undefined;
    const reduced = folding && reduceWith(parts, rule.name!, folding.current, folding.updates);
    const value = updated(graph, key, values[key], writes, reduced);
    if (value === undefined) delete values[key];
    else values[key] = value;
  }
  return view(graph, values);
}

async function routed(
  graph: CompiledGraph,
  node: CompiledNode,
  parts: CodeParts,
  task: Task,
  result: Result,
  scope: Scope,
): Promise<Result> {
  if (node.routes.length === 0 || result.parent !== undefined) return result;
  const state = freshState(graph, parts, task.state, result);
  const answers: Json[] = [];
  for (const route of node.routes) {
    const answer = await (parts.routes[route.name] as Callable)(state, scope);
    answers.push(plain(answer, `answer of route "${route.name}"`));
  }
  return withRoutes(graph, node, result, answers, task.id);
}

async function nodeResult(graph: CompiledGraph, parts: CodeParts, task: Task, scope: Scope): Promise<Result> {
  const node = graph.nodes.get(task.node)!;
  const place = task.node === START ? "input" : `node "${task.node}"`;
  let value: Json;
  if (task.returned !== undefined) value = task.returned.value;
  else
    try {
      value = plain(await (parts.nodes[task.node] as Callable)(task.input, scope), `result of ${place}`);
    } catch (thrown) {
      if (!(thrown instanceof ParentCommand)) throw thrown;
      // As if the node had been the inner graph itself.
      const { graph: _parent, ...fields } = marked(thrown.command, "$command")!;
      value = { $command: fields };
    }
  if (scope.asked.length > 0) throw new Suspension();
  return routed(graph, node, parts, task, resultOf(graph, node, value, task.id, place), scope);
}

async function handlerResult(
  graph: CompiledGraph,
  parts: CodeParts,
  task: Task,
  scope: Scope,
): Promise<Result> {
  const handler = parts.errorHandlers[task.name] as Callable;
  const place = `error handler of node "${task.node}"`;
  const value = plain(await handler(task.input, task.error, scope), `result of the ${place}`);
  return resultOf(graph, graph.nodes.get(task.node)!, value, task.id, `the ${place}`);
}

async function eventResult(
  graph: CompiledGraph,
  parts: CodeParts,
  task: Task,
  scope: Scope,
): Promise<Result> {
  const place = `handler of event "${task.name}"`;
  const value = plain(
    await (parts.events[task.name] as Callable)(view(graph, task.state), task.input, scope),
    `result of the ${place}`,
  );
  const result = resultOf(graph, graph.nodes.get(task.node)!, value, task.id, `the ${place}`);
  if (
    result.goto.length > 0 ||
    result.sends.length > 0 ||
    result.waits.length > 0 ||
    result.parent !== undefined
  )
    throw new GraphError(
      "InvalidUpdateError",
      `the ${place} returned a command; allowed is an update, as the wait says what runs next`,
    );
  return { ...result, goto: [task.node] };
}

function reduceResult(parts: CodeParts, task: Task): Result {
  const { current, updates } = task.input as { readonly current?: Json; readonly updates: readonly Json[] };
  return { ...noResult, value: reduceWith(parts, task.name, current, updates) };
}

function resultOfTask(
  graph: CompiledGraph,
  parts: CodeParts,
  task: Task,
  scope: Scope,
): Result | Promise<Result> {
  switch (task.kind) {
    case "node":
    case "updateWriter":
      return nodeResult(graph, parts, task, scope);
    case "handler":
      return handlerResult(graph, parts, task, scope);
    case "event":
      return eventResult(graph, parts, task, scope);
    case "reduce":
      return reduceResult(parts, task);
    case "child":
      throw new GraphError(
        "GraphCodeError",
        `node "${task.node}" is a durable subgraph, which only its host can run`,
      );
  }
}

/**
 * One attempt of a task: its code and then its routes, to one record. Retries, time-outs and the cache are the
 * caller's. Never throws for what the code does.
 *
 * @param code the code of the graph that the task belongs to (`codeAt`)
 */
export async function execute(
  program: Program,
  code: GraphCode,
  task: Task,
  around: Surroundings,
): Promise<Attempt> {
  const graph = program.graphs.get(task.path)!;
  const rule = task.kind === "event" ? undefined : graph.nodes.get(task.node)?.manifest.interrupts;
  const scope = new Scope(task, around, rule, task.nested);
  const nested = () => (Object.keys(scope.nested).length > 0 ? { nested: scope.nested } : {});
  try {
    const result = await resultOfTask(graph, code.parts, task, scope);
    // Code that caught the suspension and returned has still asked.
    if (scope.asked.length === 0) return { record: { status: "done", result } };
  } catch (thrown) {
    if (scope.asked.length === 0) {
      const { answers, nestedAnswers } = task;
      const kept = { answers, ...nested(), ...(nestedAnswers && { nestedAnswers }) };
      return { record: { status: "failed", error: errorData(thrown), ...kept }, thrown };
    }
  }
  return { record: { status: "asked", asked: scope.asked, answers: task.answers, ...nested() } };
}
