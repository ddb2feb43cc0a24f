import type { GraphCode, Store } from "../core/code.js";
import type { Program } from "../core/compile.js";
import { errorData } from "../core/errors.js";
import { execute, type Attempt } from "../core/execute.js";
import type { Json } from "../core/json.js";
import type { Task } from "../core/plan.js";
import { retryDelayMs } from "../core/policies.js";
import type { NestedOutcome, NestedRequest, Surroundings } from "../core/scope.js";
import { sleep, watch, type Watch } from "./deadline.js";

/** What all tasks of a call share. */
export interface CallEnvironment {
  readonly threadId: string;
  readonly context: unknown;
  readonly store: Store;
  readonly now: () => number;
  drain(reason: string): void;
}

/** What a task in flight tells, and how it is stopped. */
export interface TaskHooks {
  custom(task: Task, chunk: Json): void;
  message(task: Task, chunk: Json): void;
  runNested(task: Task, request: NestedRequest, signal: AbortSignal): Promise<NestedOutcome>;
}

/** A task in flight. Its signal is made when something asks for it, because most code never does. */
export class InFlight implements Surroundings {
  readonly task: Task;
  readonly runId: string;
  readonly resumable: boolean;
  readonly firstAttemptAt: number;
  attempt = 0;
  #controller: AbortController | undefined;
  #abortReason: unknown;
  #aborted = false;
  /** Counts attempts, so that what a timed-out one still emits is dropped. */
  #watch: Watch | undefined;
  readonly #environment: CallEnvironment;
  readonly #hooks: TaskHooks;

  constructor(
    task: Task,
    run: { readonly id: string; readonly resumable: boolean },
    environment: CallEnvironment,
    hooks: TaskHooks,
  ) {
    this.task = task;
    this.runId = run.id;
    this.resumable = run.resumable;
    this.firstAttemptAt = environment.now();
    this.#environment = environment;
    this.#hooks = hooks;
  }

  get threadId(): string {
    return this.#environment.threadId;
  }

  get context(): unknown {
    return this.#environment.context;
  }

  get store(): Store {
    return this.#environment.store;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#aborted = true;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  write(chunk: Json): void {
    this.#watch?.progress();
    this.#hooks.custom(this.task, chunk);
  }

  message(chunk: Json): void {
    this.#watch?.progress();
    this.#hooks.message(this.task, chunk);
  }

  heartbeat(): void {
    this.#watch?.heartbeat();
  }

  drain(reason: string): void {
    this.#environment.drain(reason);
  }

  runNested(request: NestedRequest): Promise<NestedOutcome> {
    return this.#hooks.runNested(this.task, request, this.signal);
  }

  /** One attempt without limits. */
  once(program: Program, code: GraphCode): Promise<Attempt> {
    this.attempt += 1;
    return execute(program, code, this.task, this);
  }

  /** Runs the task to its record: attempts, waits between them, limits of each. */
  async run(program: Program, code: GraphCode): Promise<Attempt> {
    let { task } = this;
    for (;;) {
      this.attempt += 1;
      const attempt = await this.#once(program, code, task);
      if (attempt.record.status !== "failed" || this.#aborted) return attempt;
      const { error, nested } = attempt.record;
      const delayMs = retryDelayMs(task.retry, error, this.attempt);
      if (delayMs === undefined) return attempt;
      await sleep(delayMs + Math.random() * task.retry!.jitterMs, this.signal);
      if (this.#aborted) return attempt;
      if (nested) task = { ...task, nested };
    }
  }

  async #once(program: Program, code: GraphCode, task: Task): Promise<Attempt> {
    if (task.timeout === undefined) return execute(program, code, task, this);
    const limits = watch(task.node, task.timeout);
    this.#watch = limits;
    const own = new AttemptSurroundings(this);
    try {
      return await Promise.race([execute(program, code, task, own), limits.over]);
    } catch (thrown) {
      own.end(thrown);
      return { record: { status: "failed", error: errorData(thrown), answers: task.answers }, thrown };
    } finally {
      limits.stop();
      this.#watch = undefined;
    }
  }
}

/** The surroundings of one attempt with a limit: cut off when the limit is reached. */
class AttemptSurroundings implements Surroundings {
  readonly #flight: InFlight;
  readonly #controller = new AbortController();
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly firstAttemptAt: number;
  readonly context: unknown;
  readonly store: Store;
  readonly resumable: boolean;
  readonly signal: AbortSignal;
  #ended = false;

  constructor(flight: InFlight) {
    this.#flight = flight;
    this.threadId = flight.threadId;
    this.runId = flight.runId;
    this.attempt = flight.attempt;
    this.firstAttemptAt = flight.firstAttemptAt;
    this.context = flight.context;
    this.store = flight.store;
    this.resumable = flight.resumable;
    this.signal = AbortSignal.any([flight.signal, this.#controller.signal]);
  }

  end(reason: unknown): void {
    this.#ended = true;
    this.#controller.abort(reason);
  }

  write(chunk: Json): void {
    if (!this.#ended) this.#flight.write(chunk);
  }

  message(chunk: Json): void {
    if (!this.#ended) this.#flight.message(chunk);
  }

  heartbeat(): void {
    if (!this.#ended) this.#flight.heartbeat();
  }

  drain(reason: string): void {
    if (!this.#ended) this.#flight.drain(reason);
  }

  runNested(request: NestedRequest): Promise<NestedOutcome> {
    return this.#flight.runNested(request);
  }
}
