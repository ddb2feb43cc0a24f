import type { Delivery, Head, OpenWait, Result, SendPacket } from "./checkpoint.js";
import { branchChannel, type CompiledGraph, type CompiledNode } from "./compile.js";
import { emptied, isFilled, updated } from "./channels.js";
import { GraphError } from "./errors.js";
import type { Json, JsonObject } from "./json.js";
import { START } from "./markers.js";
import { isAvailable, waitingToFinish, woken, type Arrivals } from "./prepare.js";

/** What one task of a step did, as far as applying it goes. */
export interface Applied {
  /** The node; undefined for input from outside. */
  readonly node: CompiledNode | undefined;
  /** Triggers that the task answers, to be marked as seen. */
  readonly triggers: readonly string[];
  /** Undefined for a task whose failure was handled: it answers its triggers and writes nothing. */
  readonly result: Result | undefined;
  /** The node's plain edges and joins fire. */
  readonly fires: boolean;
}

/** How the writes of a step are applied. */
export interface WriteMode {
  /** The step counts: what empties itself does, and deferred nodes may be released. */
  readonly counts: boolean;
  /** Values of the channels with a reducer of the code's own. */
  readonly reduced: ReadonlyMap<string, Json>;
}

/** What a head holds beside its identity. */
export type Body = Pick<
  Head,
  "values" | "control" | "sends" | "waits" | "deliveries" | "versions" | "seen" | "version"
>;

/** The body after a step, and the state keys that the step wrote. */
export interface Written {
  readonly body: Body;
  readonly written: readonly string[];
}

export const noResult: Result = { writes: [], goto: [], sends: [], waits: [] };

/** The writes of a step by state key, in the order in which they are applied. */
export function groupWrites(applied: readonly Applied[]): Map<string, Json[]> {
  const groups = new Map<string, Json[]>();
  for (const { result } of applied)
    for (const [key, value] of result?.writes ?? []) {
      const values = groups.get(key);
      if (values === undefined) groups.set(key, [value]);
      else values.push(value);
    }
  return groups;
}

/** One step's changes, collected on copies. */
class Step {
  readonly #graph: CompiledGraph;
  readonly #head: Body;
  readonly values: Record<string, Json>;
  readonly control: Record<string, Json>;
  readonly versions: Record<string, number>;
  readonly version: number;
  readonly #woken = new Set<string>();
  #triggers = false;

  constructor(graph: CompiledGraph, head: Body) {
    this.#graph = graph;
    this.#head = head;
    this.values = { ...head.values };
    this.control = { ...head.control };
    this.versions = { ...head.versions };
    this.version = head.version + 1;
  }

  /** Takes what the tasks have answered; arrivals at a join begin again. */
  consume(applied: readonly Applied[]): void {
    for (const { triggers } of applied)
      for (const trigger of triggers) {
        const held = this.control[trigger];
        if (held === undefined || !isAvailable(this.#graph, trigger, held)) continue;
        delete this.control[trigger];
        this.versions[trigger] = this.version;
      }
  }

  /** @throws GraphError `InvalidUpdateError` */
  writeState(groups: ReadonlyMap<string, readonly Json[]>, reduced: ReadonlyMap<string, Json>): void {
    for (const [key, writes] of groups) {
      const value = updated(this.#graph, key, this.#head.values[key], writes, reduced.get(key));
      if (value === undefined) delete this.values[key];
      else this.values[key] = value;
      this.versions[key] = this.version;
    }
  }

  wake(node: string): void {
    const target = this.#graph.nodes.get(node);
    if (target === undefined)
      throw new GraphError(
        "InvalidUpdateError",
        `goto leads to unknown node "${node}" of graph "${this.#graph.manifest.name}"`,
      );
    const channel = branchChannel(node);
    if (target.manifest.defer) this.control[channel] = waitingToFinish;
    else {
      this.control[channel] = woken;
      this.#triggers = true;
    }
    this.#touch(channel);
  }

  arrive(channel: string, node: string): void {
    const held = (this.control[channel] ?? { arrived: [], released: false }) as unknown as Arrivals;
    if (held.arrived.includes(node)) return;
    this.control[channel] = { arrived: [...held.arrived, node], released: held.released };
    this.#touch(channel);
    if (isAvailable(this.#graph, channel, this.control[channel]!)) this.#triggers = true;
  }

  begin(input: Json): void {
    this.control[START] = { input };
    this.#triggers = true;
    this.#touch(START);
  }

  #touch(channel: string): void {
    this.versions[channel] = this.version;
    this.#woken.add(channel);
  }

  /** Empties what lasts one step only and wasn't written in this one. */
  empty(written: ReadonlyMap<string, unknown>): void {
    for (const key of this.#graph.emptying) {
      const rule = this.#graph.channels.get(key)!;
      const held = this.values[key];
      if (written.has(key) || !isFilled(rule, held)) continue;
      const left = emptied(rule, held);
      if (left === undefined) delete this.values[key];
      else this.values[key] = left;
      this.versions[key] = this.version;
    }
    for (const channel of Object.keys(this.control)) {
      if (this.#woken.has(channel) || !this.#lastsOneStep(channel)) continue;
      delete this.control[channel];
      this.versions[channel] = this.version;
    }
  }

  #lastsOneStep(channel: string): boolean {
    return !this.#graph.joins.has(channel) && !this.#graph.wakes.get(channel)?.manifest.defer;
  }

  /** Releases the deferred nodes when nothing that was written would run otherwise. */
  releaseDeferred(waiting: boolean): void {
    if (this.#triggers || waiting) return;
    for (const [channel, held] of Object.entries(this.control)) {
      const join = this.#graph.joins.get(channel);
      const arrivals = held as unknown as Arrivals;
      if (held === waitingToFinish) this.control[channel] = woken;
      else if (join?.deferred && !arrivals.released && arrivals.arrived.length === join.from.length)
        this.control[channel] = { arrived: arrivals.arrived, released: true };
      else continue;
      this.versions[channel] = this.version;
    }
  }
}

function markSeen(head: Body, applied: readonly Applied[]): Head["seen"] {
  const seen: Record<string, Readonly<Record<string, number>>> = { ...head.seen };
  for (const { node, triggers } of applied) {
    if (node === undefined) continue;
    const own: Record<string, number> = { ...seen[node.name] };
    for (const trigger of triggers) {
      const version = head.versions[trigger];
      if (version !== undefined) own[trigger] = version;
    }
    seen[node.name] = own;
  }
  return seen;
}

/**
 * The body after the writes of a step.
 *
 * In this order: mark triggers as seen, take them, write the state, wake nodes, empty what lasts one step, release
 * deferred nodes when nothing else would run.
 *
 * @param input the input of a new run, if this step brings one
 * @throws GraphError `InvalidUpdateError`
 */
export function write(
  graph: CompiledGraph,
  head: Body,
  applied: readonly Applied[],
  mode: WriteMode,
  input?: { readonly value: Json },
): Written {
  const step = new Step(graph, head);
  step.consume(applied);
  const groups = groupWrites(applied);
  step.writeState(groups, mode.reduced);
  const sends: SendPacket[] = mode.counts ? [] : [...head.sends];
  const waits: OpenWait[] = [...head.waits];
  for (const { node, result, fires } of applied) {
    if (fires && node !== undefined) {
      for (const target of node.edges) step.wake(target);
      for (const join of node.joins) step.arrive(join.channel, node.name);
    }
    if (result === undefined) continue;
    for (const target of result.goto) step.wake(target);
    for (const packet of result.sends) sends.push(packet);
    for (const wait of result.waits) waits.push(wait);
  }
  if (input !== undefined) step.begin(input.value);
  if (mode.counts) {
    step.empty(groups);
    step.releaseDeferred(waits.length > 0);
  }
  return {
    body: {
      values: step.values as JsonObject,
      control: step.control as JsonObject,
      sends,
      waits,
      deliveries: mode.counts ? [] : head.deliveries,
      versions: step.versions,
      seen: markSeen(head, applied),
      version: step.version,
    },
    written: [...groups.keys()],
  };
}

/** The deliveries that the waits of a body have met, taken out of it. */
export function withDeliveries(body: Body, deliveries: readonly Delivery[]): Body {
  if (deliveries.length === 0) return body;
  const met = new Set(deliveries.map((delivery) => delivery.wait.id));
  return {
    ...body,
    waits: body.waits.filter((wait) => !met.has(wait.id)),
    deliveries: [...body.deliveries, ...deliveries],
  };
}
