import type { OpenWait, Result, SendPacket } from "./checkpoint.js";
import type { CompiledGraph, CompiledNode } from "./compile.js";
import { isUpdate, writesOf } from "./channels.js";
import { GraphError } from "./errors.js";
import { hashId } from "./hash.js";
import { has, isJsonObject, type Json, type JsonObject } from "./json.js";
import { END, marked, PARENT, START } from "./markers.js";
import { stampMessages } from "./reducers.js";
import { schemaProblem } from "./schema-check.js";

/** Collects what a task did, piece by piece, and refuses what the graph doesn't know. */
class Collector {
  readonly writes: (readonly [string, Json])[] = [];
  readonly goto: string[] = [];
  readonly sends: SendPacket[] = [];
  readonly waits: OpenWait[] = [];
  readonly #graph: CompiledGraph;
  readonly #seed: string;
  parent: Json | undefined;

  constructor(graph: CompiledGraph, seed: string) {
    this.#graph = graph;
    this.#seed = seed;
  }

  update(node: CompiledNode, update: JsonObject): void {
    const graph = this.#graph;
    const allowed = node.name === START ? new Set(graph.manifest.input) : undefined;
    for (const [key, value] of writesOf(graph, update, allowed)) {
      const place = this.writes.length;
      const isConversation = graph.channels.get(key)!.reducer === "messages";
      this.writes.push([
        key,
        isConversation
          ? stampMessages(value, (ordinal) => hashId(this.#seed, "message", String(place), String(ordinal)))
          : value,
      ]);
    }
  }

  destination(destination: Json, place: string): void {
    const packet = marked(destination, "$send");
    const wait = marked(destination, "$wait");
    if (packet !== undefined) this.#send(packet, place);
    else if (wait !== undefined) this.#wait(wait, place);
    else if (typeof destination === "string") this.#go(destination, place);
    else
      this.#refuse(
        `${place} leads to ${JSON.stringify(destination)}; allowed is the name of a node, END, a send or a wait`,
      );
  }

  #refuse(message: string): never {
    throw new GraphError("InvalidUpdateError", message);
  }

  #known(name: Json | undefined, place: string): string {
    if (typeof name !== "string" || name === START || !this.#graph.nodes.has(name))
      this.#refuse(
        `${place} leads to unknown node ${JSON.stringify(name)} of graph "${this.#graph.manifest.name}"`,
      );
    return name;
  }

  #go(name: string, place: string): void {
    if (name === END) return;
    this.#known(name, place);
    if (!this.goto.includes(name)) this.goto.push(name);
  }

  #send(packet: JsonObject, place: string): void {
    const name = this.#known(packet["node"], `send of ${place}`);
    const arg = packet["arg"] ?? null;
    const schema = this.#graph.nodes.get(name)!.manifest.arg;
    const problem =
      schema === undefined ? undefined : schemaProblem(arg, schema, `argument of send to "${name}"`);
    if (problem !== undefined) this.#refuse(problem);
    const timeoutMs = packet["timeoutMs"] as number | undefined;
    this.sends.push({ node: name, arg, ...(timeoutMs !== undefined && { timeoutMs }) });
  }

  #wait(wait: JsonObject, place: string): void {
    const event = wait["event"];
    if (typeof event !== "string" || !has(this.#graph.manifest.events, event))
      this.#refuse(`${place} waits for unknown event ${JSON.stringify(event)}`);
    const onDeadline = wait["onDeadline"];
    this.waits.push({
      id: hashId(this.#seed, "wait", String(this.waits.length)),
      event,
      resume: this.#known(wait["resume"], `wait of ${place}`),
      ...(wait["deadlineMs"] !== undefined && { deadlineMs: wait["deadlineMs"] as number }),
      ...(onDeadline !== undefined && { onDeadline: this.#known(onDeadline, `onDeadline of ${place}`) }),
    });
  }

  command(node: CompiledNode, fields: JsonObject, place: string): void {
    const update = fields["update"];
    if (isUpdate(update ?? null)) this.update(node, update as JsonObject);
    else if (update !== undefined && update !== null)
      this.#refuse(`update of ${place} is ${JSON.stringify(update)}; allowed is an object`);
    const goto = fields["goto"];
    if (goto === undefined) return;
    for (const destination of Array.isArray(goto) ? (goto as readonly Json[]) : [goto])
      this.destination(destination, place);
  }

  result(): Result {
    return {
      writes: this.writes,
      goto: this.goto,
      sends: this.sends,
      waits: this.waits,
      ...(this.parent !== undefined && { parent: this.parent }),
    };
  }
}

function collectItem(collector: Collector, node: CompiledNode, item: Json, place: string): void {
  const fields = marked(item, "$command");
  if (fields !== undefined) {
    if (fields["graph"] === PARENT) collector.parent ??= item;
    // After a command for the graph around this one, nothing of this task counts.
    else if (collector.parent === undefined) collector.command(node, fields, place);
  } else if (marked(item, "$send") !== undefined) collector.destination(item, place);
  else if (isUpdate(item)) collector.update(node, item);
  else if (item !== null) refuseReturn(place, item);
}

function refuseReturn(place: string, value: Json): never {
  const kind = Array.isArray(value) ? "an array without a command" : typeof value;
  throw new GraphError(
    "InvalidUpdateError",
    `${place} returned ${kind}; allowed is an object, a command, a send, an array that holds a command, or nothing`,
    "INVALID_GRAPH_NODE_RETURN_VALUE",
  );
}

/**
 * What a node's return value and its routes' answers mean: the one record of the task.
 *
 * @param seed makes the ids of messages and waits; the task's id
 * @throws GraphError `InvalidUpdateError`; `TypeError` for an object-state graph
 */
export function resultOf(
  graph: CompiledGraph,
  node: CompiledNode,
  value: Json,
  seed: string,
  place = `node "${node.name}"`,
): Result {
  const collector = new Collector(graph, seed);
  collectReturn(collector, graph, node, value, place);
  return collector.result();
}

function collectReturn(
  collector: Collector,
  graph: CompiledGraph,
  node: CompiledNode,
  value: Json,
  place: string,
): void {
  const isObjectState = graph.manifest.mode === "object";
  // Falsy values mean "no update", as in LangGraph; an object-state graph takes null only.
  if (value === null || (!isObjectState && !value)) return;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    if (!items.some((item) => marked(item, "$command") !== undefined)) {
      if (isObjectState) refuseModelUpdate(place, value);
      refuseReturn(place, value);
    }
    for (const item of items) collectItem(collector, node, item, place);
  } else if (isObjectState && !isJsonObject(value)) refuseModelUpdate(place, value);
  else collectItem(collector, node, value, place);
}

function refuseModelUpdate(place: string, value: Json): never {
  throw new GraphError(
    "TypeError",
    `${place} returned ${JSON.stringify(value)}; the state of an object-state graph takes an object to merge, replace(model) or null`,
  );
}

/**
 * The record of a task together with what its routes answered, in the order of the routes.
 *
 * @throws GraphError, and a plain Error for an answer that the route doesn't declare, as in LangGraph
 */
export function withRoutes(
  graph: CompiledGraph,
  node: CompiledNode,
  result: Result,
  answers: readonly Json[],
  seed: string,
): Result {
  const collector = new Collector(graph, `${seed}/routes`);
  node.routes.forEach((route, index) => {
    const answer = answers[index]!;
    const place = `route "${route.name}"`;
    for (const choice of Array.isArray(answer) ? (answer as readonly Json[]) : [answer]) {
      if (typeof choice !== "string") {
        if (!isJsonObject(choice))
          throw new Error(`${place} answered ${JSON.stringify(choice)}; ${allowedAnswers(route.targets)}`);
        collector.destination(choice, place);
      } else if (has(route.targets, choice)) collector.destination(route.targets[choice]!, place);
      else throw new Error(`${place} answered ${JSON.stringify(choice)}; ${allowedAnswers(route.targets)}`);
    }
  });
  const routed = collector.result();
  return {
    ...result,
    goto: [...result.goto, ...routed.goto.filter((name) => !result.goto.includes(name))],
    sends: [...result.sends, ...routed.sends],
    waits: [...result.waits, ...routed.waits],
  };
}

function allowedAnswers(targets: Readonly<Record<string, string>>): string {
  return `allowed are ${Object.keys(targets)
    .map((name) => JSON.stringify(name))
    .join(", ")}, sends and waits`;
}
