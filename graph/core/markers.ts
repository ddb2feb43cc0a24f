import { has, isJsonObject, type Json, type JsonObject } from "./json.js";
import { toMs, type Duration } from "./durations.js";

/** The place where a run begins: the source of the first edges and routes. */
export const START = "__start__";
/** The place where a path ends. */
export const END = "__end__";
/** As `graph` of a command: the command is for the graph around this one. */
export const PARENT = "PARENT";

export type Start = typeof START;
export type End = typeof END;

/** One more task for a node, with an input of its own. */
export interface Send<Node extends string = string, Argument = unknown> {
  readonly $send: { readonly node: Node; readonly arg: Argument; readonly timeoutMs?: number };
}

/** Waiting for an event: `resume` runs after the event's handler, `onDeadline` when the time is over. */
export interface Wait<Event extends string = string, Node extends string = string> {
  readonly $wait: {
    readonly event: Event;
    readonly resume: Node;
    readonly deadlineMs?: number;
    readonly onDeadline?: Node;
  };
}

/** Where a command or a route may lead. */
export type Destination<Node extends string = string> = Node | End | Send<Node> | Wait<string, Node>;

/** State update and routing in one result. */
export interface Command<Update = unknown, Node extends string = string> {
  readonly $command: {
    readonly update?: Update;
    readonly goto?: Destination<Node> | readonly Destination<Node>[];
    readonly graph?: typeof PARENT;
  };
}

/** A value that replaces what a reducer channel holds. */
export interface Overwrite<Value = unknown> {
  readonly $overwrite: Value;
}

/** A model that replaces the whole state of an object-state graph. */
export interface Replace<Model = unknown> {
  readonly $replace: Model;
}

/** Starts one more task of `node` in the next step; `arg` is the whole input of that task. */
export function send<Node extends string, Argument>(
  node: Node,
  arg: Argument,
  options: { readonly timeout?: Duration } = {},
): Send<Node, Argument> {
  const timeoutMs =
    options.timeout === undefined ? undefined : toMs(options.timeout, `timeout of send("${node}")`);
  return { $send: { node, arg, ...(timeoutMs !== undefined && { timeoutMs }) } };
}

/** Updates state and chooses what runs next; static edges of the node fire all the same. */
export function command<
  const Fields extends {
    readonly update?: unknown;
    readonly goto?: Destination | readonly Destination[];
    readonly graph?: typeof PARENT;
  },
>(fields: Fields): { readonly $command: Fields } {
  return { $command: fields };
}

/** Replaces what a reducer channel holds, dropping earlier writes of the same step. */
export function overwrite<Value>(value: Value): Overwrite<Value> {
  return { $overwrite: value };
}

/** Replaces the state of an object-state graph, where a plain object would be merged into it. */
export function replace<Model>(model: Model): Replace<Model> {
  return { $replace: model };
}

/** Waits for an event; `resume` runs once the event's handler has updated the state. */
export function waitForEvent<Event extends string, Node extends string>(
  event: Event,
  resume: Node,
  options: { readonly deadline?: Duration; readonly onDeadline?: Node } = {},
): Wait<Event, Node> {
  const deadlineMs =
    options.deadline === undefined
      ? undefined
      : toMs(options.deadline, `deadline of waitForEvent("${event}")`);
  return {
    $wait: {
      event,
      resume,
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(options.onDeadline !== undefined && { onDeadline: options.onDeadline }),
    },
  };
}

/** Removes the message with this id from a messages channel. */
export function removeMessage(id: string): { readonly role: "remove"; readonly id: string } {
  return { role: "remove", id };
}

/** Id of the message that empties a messages channel. */
export const REMOVE_ALL = "__remove_all__";

/** Empties a messages channel; messages after it in the same write stay. */
export function removeAllMessages(): { readonly role: "remove"; readonly id: string } {
  return removeMessage(REMOVE_ALL);
}

/** What a marker carries, or undefined when the value isn't that marker: an object with this one key. */
export function marked(value: unknown, marker: "$send" | "$wait" | "$command"): JsonObject | undefined {
  if (!isJsonObject(value) || !has(value, marker)) return undefined;
  const content = value[marker];
  return isJsonObject(content) ? content : undefined;
}

/** True for `overwrite(…)`. */
export function isOverwrite(value: unknown): value is { readonly $overwrite: Json } {
  return isJsonObject(value) && has(value, "$overwrite");
}

/** True for `replace(…)`. */
export function isReplace(value: unknown): value is { readonly $replace: Json } {
  return isJsonObject(value) && has(value, "$replace");
}
