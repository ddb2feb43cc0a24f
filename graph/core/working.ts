import type { Checkpoint, Frame, InboxEvent, TaskRecord } from "./checkpoint.js";
import type { CompiledGraph, Program } from "./compile.js";
import { GraphError } from "./errors.js";
import type { StepEvent } from "./events.js";

/** A run while it is being stepped: changes go into copies, so that the checkpoint it came from stays as it was. */
export class Working {
  readonly program: Program;
  readonly base: Checkpoint;
  readonly events: StepEvent[] = [];
  inbox: readonly InboxEvent[];
  readonly #frames = new Map<string, Frame>();
  readonly #removed = new Set<string>();
  /** Records of a step that are being written, by namespace. */
  readonly #pending = new Map<string, Record<string, TaskRecord>>();

  constructor(program: Program, base: Checkpoint) {
    this.program = program;
    this.base = base;
    this.inbox = base.inbox;
  }

  frame(namespace: string): Frame | undefined {
    if (this.#removed.has(namespace)) return undefined;
    return this.#frames.get(namespace) ?? this.base.frames[namespace];
  }

  root(): Frame {
    return this.frame("")!;
  }

  set(namespace: string, frame: Frame): void {
    this.#removed.delete(namespace);
    this.#frames.set(namespace, frame);
    this.#pending.delete(namespace);
  }

  patch(namespace: string, change: Partial<Frame>): Frame {
    const frame = { ...this.frame(namespace)!, ...change };
    this.set(namespace, frame);
    return frame;
  }

  remove(namespace: string): void {
    this.#frames.delete(namespace);
    this.#pending.delete(namespace);
    this.#removed.add(namespace);
  }

  /** Records what is known of a task. The record object of a step is copied once, however many tasks end together. */
  record(namespace: string, taskId: string, record: TaskRecord): void {
    let pending = this.#pending.get(namespace);
    if (pending === undefined) {
      pending = { ...this.frame(namespace)!.pending };
      this.patch(namespace, { pending });
      this.#pending.set(namespace, pending);
    }
    pending[taskId] = record;
  }

  /** Says that the frame has a new checkpoint; the root's come with the whole run, so that it can be kept. */
  committed(namespace: string, written: readonly string[]): void {
    const { head } = this.frame(namespace)!;
    const checkpoint = namespace === "" ? { checkpoint: this.finish({ status: "running" }) } : {};
    this.events.push({ type: "checkpoint", namespace, head, written, ...checkpoint });
  }

  namespaces(): string[] {
    const known = [...Object.keys(this.base.frames), ...this.#frames.keys()];
    return [...new Set(known)].filter((namespace) => !this.#removed.has(namespace));
  }

  graph(frame: Frame): CompiledGraph {
    const graph = this.program.graphs.get(frame.path);
    if (graph === undefined)
      throw new GraphError(
        "GraphValueError",
        `checkpoint has a subgraph at "${frame.path}", which graph "${this.program.root.manifest.name}" doesn't know`,
      );
    return graph;
  }

  /** The run with all changes. */
  finish(change: Partial<Checkpoint>): Checkpoint {
    // What has been handed out stays as it is: later records go into new copies.
    this.#pending.clear();
    let frames = this.base.frames;
    if (this.#frames.size > 0 || this.#removed.size > 0) {
      const next: Record<string, Frame> = { ...frames };
      for (const namespace of this.#removed) delete next[namespace];
      for (const [namespace, frame] of this.#frames) next[namespace] = frame;
      frames = next;
    }
    return { ...this.base, inbox: this.inbox, ...change, frames };
  }
}
