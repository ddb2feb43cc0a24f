import { apply, type Applying, type Outcome } from "../core/apply.js";
import type { Checkpoint, Result } from "../core/checkpoint.js";
import type { GraphCode } from "../core/code.js";
import type { Program } from "../core/compile.js";
import type { ErrorData } from "../core/errors.js";
import type { StepEvent } from "../core/events.js";
import { codeAt, type Attempt } from "../core/execute.js";
import type { Json } from "../core/json.js";
import { plan, type Task } from "../core/plan.js";
import { requestDrain } from "../core/verbs.js";
import { InFlight, type CallEnvironment, type TaskHooks } from "./attempts.js";
import type { Cache } from "./cache.js";

/** What a drive reports and asks for on its way. */
export interface DriveHooks extends TaskHooks {
  event(event: StepEvent): void;
  /** A task has ended, in the order in which tasks end. */
  ended(task: Task, attempt: Attempt, cached: boolean): void;
  keep(checkpoint: Checkpoint): Promise<void> | undefined;
  drainReason(): string | undefined;
}

export interface DriveSettings {
  readonly program: Program;
  readonly code: GraphCode;
  readonly environment: CallEnvironment;
  readonly cache: Cache;
  readonly maxConcurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly hooks: DriveHooks;
}

/** Below this many open tasks each end is recorded at once; above, recording one by one would cost the square. */
const recordAtOnceMax = 64;
/** Above it, a part of this size is recorded together. */
const recordedPart = 16;

/** Takes one run from where it stands to where it rests, running its tasks. */
export class Drive {
  readonly #settings: DriveSettings;
  readonly #inFlight = new Map<string, InFlight>();
  readonly #codes = new Map<string, GraphCode>();
  /** What failed tasks threw, by the data that the run keeps of it. */
  readonly thrown = new Map<ErrorData, unknown>();
  #checkpoint: Checkpoint;
  #ended: Outcome[] = [];
  #waiting: readonly Task[] = [];
  #wake: (() => void) | undefined;
  #isAborted = false;
  /** A fault of the surroundings, such as a cache that can't be reached: no task's doing, so the whole call's. */
  #fault: { readonly thrown: unknown } | undefined;

  constructor(settings: DriveSettings, checkpoint: Checkpoint) {
    this.#settings = settings;
    this.#checkpoint = checkpoint;
  }

  /** @returns the run at rest; its status says why */
  async run(first: Applying): Promise<Checkpoint> {
    const { signal } = this.#settings;
    const abort = () => this.#abortAll(signal!.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      await this.#take(first);
      for (;;) {
        this.#start();
        if (this.#fault !== undefined && this.#inFlight.size === 0) throw this.#fault.thrown;
        if (this.#inFlight.size === 0 && this.#ended.length === 0) return this.#checkpoint;
        if (!this.#hasEnough() && this.#inFlight.size > 0)
          await new Promise<void>((resolve) => (this.#wake = resolve));
        if (this.#hasEnough()) await this.#record();
      }
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  async #take({ checkpoint, events }: Applying): Promise<void> {
    this.#checkpoint = checkpoint;
    for (const event of events) {
      this.#settings.hooks.event(event);
      if (event.type === "checkpoint" && event.checkpoint !== undefined)
        await this.#settings.hooks.keep(event.checkpoint);
    }
    await this.#settings.hooks.keep(checkpoint);
    const tasks = plan(this.#settings.program, checkpoint);
    if (this.#inFlight.size > 0) this.#stopUnplanned(tasks);
    this.#waiting = this.#isAborted ? [] : this.#unstarted(tasks);
  }

  /** A task in flight that is no longer planned has no use: another one of its step failed. */
  #stopUnplanned(tasks: readonly Task[]): void {
    const planned = new Set(tasks.map((task) => task.id));
    for (const [id, flight] of this.#inFlight)
      if (!planned.has(id)) flight.abort(new Error("another task of the step failed"));
  }

  #unstarted(tasks: readonly Task[]): readonly Task[] {
    if (this.#inFlight.size === 0 && this.#ended.length === 0) return tasks;
    // What has ended while the run was kept is planned still, until it is recorded.
    const ended = new Set(this.#ended.map((outcome) => outcome.taskId));
    return tasks.filter((task) => !this.#inFlight.has(task.id) && !ended.has(task.id));
  }

  #start(): void {
    const { maxConcurrency } = this.#settings;
    let next = 0;
    for (; next < this.#waiting.length && this.#inFlight.size < maxConcurrency; next++)
      this.#launch(this.#waiting[next]!);
    this.#waiting = this.#waiting.slice(next);
  }

  #launch(task: Task): void {
    const { environment, hooks } = this.#settings;
    const { run: id, resumable } = this.#checkpoint;
    const flight = new InFlight(task, { id, resumable }, environment, hooks);
    this.#inFlight.set(task.id, flight);
    this.#fly(flight).catch((thrown: unknown) => {
      this.#fault ??= { thrown };
      this.#inFlight.delete(task.id);
      this.#abortAll(thrown);
    });
  }

  async #fly(flight: InFlight): Promise<void> {
    const { task } = flight;
    const program = this.#settings.program;
    // A task without a cache, retries and limits is nothing but its code.
    const isPlain = task.cache === undefined && task.retry === undefined && task.timeout === undefined;
    const { attempt, cached } = isPlain
      ? { attempt: await flight.once(program, this.#codeOf(task)), cached: false }
      : await this.#result(flight);
    this.#inFlight.delete(task.id);
    let { record } = attempt;
    if (record.status === "failed") {
      this.thrown.set(record.error, attempt.thrown);
      if (flight.aborted) record = { ...record, aborted: true };
    }
    this.#ended.push({ namespace: task.namespace, taskId: task.id, record });
    this.#settings.hooks.ended(task, attempt, cached);
    this.#wake?.();
  }

  async #result(flight: InFlight): Promise<{ attempt: Attempt; cached: boolean }> {
    const { task } = flight;
    const { program, cache } = this.#settings;
    if (task.cache !== undefined && task.answers.length === 0) {
      const known = await cache.get(task.cache.key);
      if (known !== undefined)
        return {
          attempt: { record: { status: "done", result: known as unknown as Result, cached: true } },
          cached: true,
        };
    }
    const attempt = await flight.run(program, this.#codeOf(task));
    const { record } = attempt;
    if (task.cache !== undefined && record.status === "done" && record.result.waits.length === 0)
      await cache.set(task.cache.key, record.result as unknown as Json, task.cache.ttlMs);
    return { attempt, cached: false };
  }

  #codeOf(task: Task): GraphCode {
    let code = this.#codes.get(task.path);
    if (code === undefined) this.#codes.set(task.path, (code = codeAt(this.#settings.code, task.path)));
    return code;
  }

  /** True when what has ended is worth a record: a failure, the end of all, or a large enough part. */
  #hasEnough(): boolean {
    const ended = this.#ended.length;
    if (ended === 0) return false;
    const open = this.#inFlight.size + this.#waiting.length;
    if (open === 0 || ended + open <= recordAtOnceMax || ended * recordedPart >= open) return true;
    return this.#ended.some((outcome) => outcome.record.status === "failed");
  }

  async #record(): Promise<void> {
    const outcomes = this.#ended;
    this.#ended = [];
    const reason = this.#settings.hooks.drainReason();
    const before = reason === undefined ? this.#checkpoint : requestDrain(this.#checkpoint, reason);
    await this.#take(apply(this.#settings.program, before, outcomes));
  }

  #abortAll(reason: unknown): void {
    this.#isAborted = true;
    this.#waiting = [];
    for (const flight of this.#inFlight.values()) flight.abort(reason);
    this.#wake?.();
  }
}
