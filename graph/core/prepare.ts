import type { Delivery, Head } from "./checkpoint.js";
import type { CompiledGraph, CompiledNode } from "./compile.js";
import { hashId } from "./hash.js";
import type { Json } from "./json.js";
import { START } from "./markers.js";

/** Trigger that LangGraph names for a task that a `send` asked for. */
export const pushTrigger = "__pregel_push";

/** A task of the next step, as it follows from the head alone. */
export interface Prepared {
  readonly id: string;
  readonly kind: "node" | "event";
  readonly node: CompiledNode;
  /** All its triggers that have something new, so that one run of the node answers them all. */
  readonly triggers: readonly string[];
  /** Argument of a `send`. */
  readonly arg?: Json;
  readonly timeoutMs?: number;
  /** Place among the sends, or among the deliveries. */
  readonly index: number;
  readonly delivery?: Delivery;
}

const preparedByHead = new WeakMap<Head, readonly Prepared[]>();

/** True when the channel of the control flow would wake its node now. */
export function isAvailable(graph: CompiledGraph, channel: string, held: Json): boolean {
  const join = graph.joins.get(channel);
  if (join !== undefined) {
    const { arrived, released } = held as unknown as Arrivals;
    return arrived.length === join.from.length && (!join.deferred || released);
  }
  return held !== waitingToFinish;
}

/** What a join channel holds. */
export interface Arrivals {
  readonly arrived: readonly string[];
  /** Deferred joins only: nothing else would run. */
  readonly released: boolean;
}

/** What the channel of a deferred node holds until nothing else would run. */
export const waitingToFinish = "waiting";
/** What the channel of a woken node holds. */
export const woken = true;

function pullTasks(graph: CompiledGraph, head: Head): Prepared[] {
  const triggersOf = new Map<CompiledNode, string[]>();
  for (const channel of Object.keys(head.control)) {
    const node = graph.wakes.get(channel);
    // A checkpoint of another graph may hold channels that this one doesn't know.
    if (node === undefined || !isAvailable(graph, channel, head.control[channel]!)) continue;
    if ((head.versions[channel] ?? 0) <= (head.seen[node.name]?.[channel] ?? 0)) continue;
    const triggers = triggersOf.get(node);
    if (triggers === undefined) triggersOf.set(node, [channel]);
    else triggers.push(channel);
  }
  return [...triggersOf]
    .sort(([a], [b]) => a.rank - b.rank)
    .map(([node, found]) => {
      const triggers =
        node.triggers.length === 1 ? node.triggers : node.triggers.filter((name) => found.includes(name));
      return { id: hashId(head.id, "pull", node.name, triggers[0]!), kind: "node", node, triggers, index: 0 };
    });
}

function pushTasks(graph: CompiledGraph, head: Head): Prepared[] {
  return head.sends.flatMap((packet, index) => {
    const node = graph.nodes.get(packet.node);
    if (node === undefined) return [];
    return {
      id: hashId(head.id, "push", packet.node, String(index)),
      kind: "node",
      node,
      triggers: [pushTrigger],
      arg: packet.arg,
      ...(packet.timeoutMs !== undefined && { timeoutMs: packet.timeoutMs }),
      index,
    };
  });
}

function eventTasks(graph: CompiledGraph, head: Head): Prepared[] {
  return head.deliveries.map((delivery, index) => ({
    id: hashId(head.id, "event", delivery.wait.id),
    kind: "event",
    node: graph.nodes.get(delivery.wait.resume) ?? graph.start,
    triggers: [`event:${delivery.wait.event}`],
    index,
    delivery,
  }));
}

/** The tasks of the next step: sends in their order, then woken nodes by name, then events. */
export function prepare(graph: CompiledGraph, head: Head): readonly Prepared[] {
  let tasks = preparedByHead.get(head);
  if (tasks === undefined) {
    tasks = [...pushTasks(graph, head), ...pullTasks(graph, head), ...eventTasks(graph, head)];
    preparedByHead.set(head, tasks);
  }
  return tasks;
}

/** True for the task that brings the input in; pictures, streams and breakpoints leave it out. */
export function isStart(task: Prepared): boolean {
  return task.node.name === START;
}

/** Id of the task that handles the failure of another. */
export function handlerId(taskId: string): string {
  return hashId(taskId, "handler");
}

/** The tasks in the order in which their results are applied: woken nodes by name, then sends, then events. */
export function applyOrder(tasks: readonly Prepared[]): readonly Prepared[] {
  const firstPulled = tasks.findIndex((task) => group(task) !== 1);
  if (firstPulled <= 0) return tasks;
  const firstEvent = tasks.findIndex((task) => group(task) === 2);
  const end = firstEvent < 0 ? tasks.length : firstEvent;
  return [...tasks.slice(firstPulled, end), ...tasks.slice(0, firstPulled), ...tasks.slice(end)];
}

/** 0: woken nodes, 1: sends, 2: events. */
function group(task: Prepared): number {
  if (task.kind === "event") return 2;
  return task.triggers[0] === pushTrigger ? 1 : 0;
}

/** The tasks in the order in which a reader expects them: sends, then nodes as declared, then events. */
export function declaredOrder(graph: CompiledGraph, tasks: readonly Prepared[]): readonly Prepared[] {
  const pulled = tasks.filter((task) => group(task) === 0);
  if (pulled.length < 2) return tasks;
  const place = new Map([...graph.nodes.keys()].map((name, index) => [name, index]));
  return [
    ...tasks.filter((task) => group(task) === 1),
    ...pulled.sort((a, b) => place.get(a.node.name)! - place.get(b.node.name)!),
    ...tasks.filter((task) => group(task) === 2),
  ];
}
