import type { Answer, Asked, Checkpoint, NestedRuns } from "./checkpoint.js";
import type { GraphCode, Store, TaskContext } from "./code.js";
import { GraphError } from "./errors.js";
import { hashId } from "./hash.js";
import type { Json } from "./json.js";
import type { InterruptRule } from "./manifest.js";
import { toMs, type Duration } from "./durations.js";
import { plain } from "./plain.js";
import { questionId } from "./questions.js";
import type { Task } from "./plan.js";
import { toJsonSchema, type Schema } from "./schema.js";
import { checkSchema } from "./schema-check.js";

/** A run inside a task, as the host is asked for it. */
export interface NestedRequest {
  readonly code: GraphCode;
  readonly input: Json;
  /** The run as an earlier attempt left it. */
  readonly previous: Checkpoint | undefined;
  readonly answers: Readonly<Record<string, Answer>>;
  /** Follows from the task's id and the call's place in the task. */
  readonly requestId: string;
}

/** How a run inside a task stands. */
export type NestedOutcome =
  | { readonly status: "done"; readonly checkpoint: Checkpoint; readonly output: Json }
  | { readonly status: "asked"; readonly checkpoint: Checkpoint; readonly asked: readonly Asked[] }
  | { readonly status: "command"; readonly checkpoint: Checkpoint; readonly command: Json }
  | { readonly status: "failed"; readonly checkpoint: Checkpoint; readonly thrown: unknown };

/** What the code of a task reaches of the world, given by whoever runs it. */
export interface Surroundings {
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly firstAttemptAt: number;
  readonly context: unknown;
  readonly signal: AbortSignal;
  readonly store: Store;
  /** False: nothing may ask. */
  readonly resumable: boolean;
  write(chunk: Json): void;
  message(chunk: Json): void;
  heartbeat(): void;
  drain(reason: string): void;
  runNested(request: NestedRequest): Promise<NestedOutcome>;
}

/** Stops the code of a task that asks; it isn't a failure. */
export class Suspension extends Error {
  override readonly name = "GraphInterrupt";
}

/** Ends the code of a task in which an inner graph gave a command for the graph around it. */
export class ParentCommand extends Error {
  override readonly name = "ParentCommand";
  readonly command: Json;

  constructor(command: Json) {
    super("the inner graph gave a command for the graph around it");
    this.command = command;
  }
}

/** One attempt of a task: the context that its code gets, and what it has asked. */
export class Scope implements TaskContext {
  readonly node: string;
  readonly taskId: string;
  readonly threadId: string;
  readonly runId: string;
  readonly checkpointId: string;
  readonly namespace: readonly string[];
  readonly step: number;
  readonly attempt: number;
  readonly firstAttemptAt: number;
  readonly context: unknown;
  readonly store: Store;
  readonly asked: Asked[] = [];
  readonly nested: Record<string, Checkpoint>;
  readonly #task: Task;
  readonly #around: Surroundings;
  readonly #rule: InterruptRule | undefined;
  #questions = 0;
  #runs = 0;

  constructor(
    task: Task,
    around: Surroundings,
    rule: InterruptRule | undefined,
    nested: NestedRuns | undefined,
  ) {
    this.node = task.node;
    this.taskId = task.id;
    this.threadId = around.threadId;
    this.runId = around.runId;
    this.checkpointId = task.checkpointId;
    this.namespace = task.namespace === "" ? [] : task.namespace.split("|");
    this.step = task.step;
    this.attempt = around.attempt;
    this.firstAttemptAt = around.firstAttemptAt;
    this.context = around.context;
    this.store = around.store;
    this.nested = { ...nested };
    this.#task = task;
    this.#around = around;
    this.#rule = rule;
  }

  get signal(): AbortSignal {
    return this.#around.signal;
  }

  readonly write = (chunk: Json): void => this.#around.write(plain(chunk, `chunk of node "${this.node}"`));

  readonly message = (chunk: Json): void =>
    this.#around.message(plain(chunk, `message of node "${this.node}"`));

  readonly heartbeat = (): void => this.#around.heartbeat();

  readonly drain = (reason = "shutdown"): void => this.#around.drain(reason);

  readonly interrupt = ((
    value: Json,
    options: { readonly schema?: Schema; readonly deadline?: Duration } = {},
  ): unknown => {
    const ordinal = this.#questions++;
    const answer = this.#task.answers[ordinal];
    if (answer !== undefined) {
      if ("expired" in answer)
        throw new GraphError(
          "DeadlineExceededError",
          `the question ${JSON.stringify(value)} wasn't answered before its deadline`,
        );
      return answer.value;
    }
    this.#askable();
    const place = `question of node "${this.node}"`;
    const schema = options.schema === undefined ? this.#rule!.schema : toJsonSchema(options.schema, place);
    if (options.schema !== undefined) checkSchema(schema!, place);
    const deadlineMs =
      options.deadline === undefined ? this.#rule!.deadlineMs : toMs(options.deadline, place);
    this.asked.push({
      id: questionId(this.taskId, ordinal),
      value: plain(value, place),
      ...(schema !== undefined && { schema }),
      ...(deadlineMs !== undefined && { deadlineMs }),
    });
    throw new Suspension(`node "${this.node}" waits for an answer`);
  }) as TaskContext["interrupt"];

  #askable(): void {
    if (!this.#around.resumable)
      throw new GraphError(
        "GraphValueError",
        `node "${this.node}" asks, but the run keeps no checkpoint, so nobody could answer`,
        "MISSING_CHECKPOINTER",
      );
    if (this.#rule === undefined)
      throw new GraphError(
        "GraphValueError",
        `node "${this.node}" asks without having declared it; give the node { interrupts: true }`,
        "UNDECLARED_INTERRUPT",
      );
  }

  readonly runGraph = (async (code: GraphCode, input: unknown): Promise<Json> => {
    const ordinal = String(this.#runs++);
    const outcome = await this.#around.runNested({
      code,
      input: plain(input, `input of graph "${code.graph.name}"`),
      previous: this.nested[ordinal],
      answers: this.#task.nestedAnswers ?? {},
      requestId: hashId(this.taskId, "run", ordinal),
    });
    this.nested[ordinal] = outcome.checkpoint;
    if (outcome.status === "done") return outcome.output;
    if (outcome.status === "command") throw new ParentCommand(outcome.command);
    if (outcome.status === "failed") throw outcome.thrown;
    this.#askable();
    this.asked.push(...outcome.asked.map((asked) => ({ ...asked, nested: true as const })));
    throw new Suspension(`graph "${code.graph.name}" inside node "${this.node}" waits for an answer`);
  }) as TaskContext["runGraph"];
}
