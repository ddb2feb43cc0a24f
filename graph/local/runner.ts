import type { Checkpoint } from "../core/checkpoint.js";
import type { GraphCode, Store } from "../core/code.js";
import { compile, type Program } from "../core/compile.js";
import { update, type Edit } from "../core/edit.js";
import { GraphError } from "../core/errors.js";
import { hashId } from "../core/hash.js";
import type { Json } from "../core/json.js";
import { plain } from "../core/plain.js";
import { questionsOf, waitsOf } from "../core/questions.js";
import { joinsLeft, nothing, snapshot } from "../core/snapshot.js";
import type { GraphTypes } from "../core/types.js";
import type { StartSettings } from "../core/verbs.js";
import type { Snapshot } from "../core/view.js";
import { Call, recursionError, reducerOf, type CallEnd, type CallSetup } from "./call.js";
import { createMemoryCache, type Cache } from "./cache.js";
import { begin, noCheckpointer, type AnyRequest, type Ground } from "./begin.js";
import type { Checkpointer } from "./checkpointer.js";
import { createMemoryCheckpointer } from "./memory-checkpointer.js";
import { createMemoryStore } from "./memory-store.js";
import { chunksOf } from "./stream.js";
import type {
  CallOptions,
  Request,
  Runner,
  RunnerOptions,
  RunResult,
  StateUpdate,
  StreamChunk,
  StreamMode,
  StreamOptions,
  UpdateOptions,
} from "./types.js";

const defaultThread = "default";

class LocalRunner<T extends GraphTypes> implements Runner<T> {
  readonly #code: GraphCode<T>;
  readonly #options: RunnerOptions;
  readonly #program: Program;
  readonly #checkpointer: Checkpointer | undefined;
  readonly #store: Store;
  readonly #cache: Cache;
  /** Threads with a call under way. */
  readonly #busy = new Set<string>();
  #requests = 0;

  constructor(code: GraphCode<T>, options: RunnerOptions) {
    this.#code = code;
    this.#options = options;
    this.#program = compile(code.graph.manifest, { inlineDurable: true });
    const keeps = options.checkpointer !== false && this.#program.root.manifest.resumable;
    this.#checkpointer = keeps ? options.checkpointer || createMemoryCheckpointer() : undefined;
    this.#store = options.store ?? createMemoryStore();
    this.#cache = options.cache ?? createMemoryCache();
  }

  invoke(
    input: Parameters<Runner<T>["invoke"]>[0],
    options?: CallOptions<T["context"]>,
  ): Promise<RunResult<T>> {
    return this.request({ input } as Request<T>, options);
  }

  resume(
    answers: Parameters<Runner<T>["resume"]>[0],
    options?: CallOptions<T["context"]>,
  ): Promise<RunResult<T>> {
    return this.request(answers, options);
  }

  continue(options?: CallOptions<T["context"]>): Promise<RunResult<T>> {
    return this.request({ continue: true }, options);
  }

  fork(checkpointId: string, options?: CallOptions<T["context"]>): Promise<RunResult<T>> {
    return this.request({ continue: true }, { ...options, checkpointId });
  }

  sendEvent(event: string, payload: Json, options?: CallOptions<T["context"]>): Promise<RunResult<T>> {
    return this.request({ event, payload }, options);
  }

  async request(request: Request<T>, options: CallOptions<T["context"]> = {}): Promise<RunResult<T>> {
    return this.#run(
      request as AnyRequest,
      options,
      { modes: new Set(), subgraphs: false, showsAllKeys: false },
      () => undefined,
    );
  }

  stream(request: Request<T>, options: StreamOptions<T["context"]> = {}): AsyncIterable<StreamChunk> {
    const { modes = "updates", subgraphs = false } = options;
    const show = {
      modes: new Set<StreamMode>(typeof modes === "string" ? [modes] : modes),
      subgraphs,
      showsAllKeys: true,
    };
    return chunksOf(options.signal, (push, signal) =>
      this.#run(request as AnyRequest, { ...options, signal }, show, push),
    );
  }

  async batch(
    inputs: Parameters<Runner<T>["batch"]>[0],
    options: CallOptions<T["context"]> = {},
  ): Promise<readonly RunResult<T>[]> {
    const thread = options.thread ?? defaultThread;
    return Promise.all(
      inputs.map((input, index) => this.invoke(input, { ...options, thread: `${thread}/${index}` })),
    );
  }

  async #exclusive<Value>(thread: string, work: () => Promise<Value>): Promise<Value> {
    if (this.#busy.has(thread))
      throw new GraphError("ThreadBusyError", `thread "${thread}" has a call under way; one call at a time`);
    this.#busy.add(thread);
    try {
      return await work();
    } finally {
      this.#busy.delete(thread);
    }
  }

  async #run(
    request: AnyRequest,
    options: CallOptions,
    show: Pick<CallSetup, "modes" | "subgraphs" | "showsAllKeys">,
    push: (chunk: StreamChunk) => void,
  ): Promise<RunResult<T>> {
    const thread = options.thread ?? defaultThread;
    return this.#exclusive(thread, async () => {
      const ground = await this.#ground(thread, options.checkpointId);
      const first = begin(this.#program, request, ground, await this.#settings(thread, options));
      const call = new Call({
        ...this.#setup(thread, options),
        ...show,
        push,
        keep: (checkpoint) => this.#keep(thread, checkpoint),
      });
      return this.#result(await call.run(first));
    });
  }

  /** Keeps the run once it has a checkpoint; one that only waits for its first has nothing to go back to. */
  #keep(thread: string, checkpoint: Checkpoint): Promise<void> | undefined {
    return checkpoint.frames[""]!.head.id === "" ? undefined : this.#checkpointer?.save(thread, checkpoint);
  }

  #setup(thread: string, options: CallOptions) {
    return {
      code: this.#code as GraphCode,
      threadId: thread,
      context: options.context,
      store: this.#store,
      cache: this.#cache,
      now: () => Date.now(),
      maxConcurrency: options.maxConcurrency ?? this.#options.maxConcurrency ?? Number.POSITIVE_INFINITY,
      signal: options.signal,
      prefix: [],
      keepsCheckpoints: this.#checkpointer !== undefined,
      drainReason: () => options.drain?.(),
    };
  }

  async #settings(thread: string, options: CallOptions): Promise<StartSettings> {
    const count = this.#checkpointer ? await this.#checkpointer.countRequest(thread) : (this.#requests += 1);
    const requestId = options.requestId ?? `${thread}/${count}`;
    return {
      requestId,
      run: hashId(thread, requestId),
      resumable: this.#checkpointer !== undefined,
      recursionLimit: options.recursionLimit ?? this.#options.recursionLimit ?? 25,
      ...(options.interruptBefore && { interruptBefore: options.interruptBefore }),
      ...(options.interruptAfter && { interruptAfter: options.interruptAfter }),
    };
  }

  async #ground(thread: string, checkpointId: string | undefined): Promise<Ground> {
    if (this.#checkpointer === undefined)
      return { stored: undefined, isSuperseded: false, isAddressed: false, isKept: false };
    const newest = await this.#checkpointer.load(thread);
    if (checkpointId === undefined)
      return { stored: newest, isSuperseded: false, isAddressed: false, isKept: true };
    const stored = await this.#checkpointer.load(thread, checkpointId);
    if (stored === undefined)
      throw new GraphError("GraphValueError", `thread "${thread}" has no checkpoint "${checkpointId}"`);
    return { stored, isSuperseded: newest!.id !== checkpointId, isAddressed: true, isKept: true };
  }

  #result({ checkpoint, output, thrown }: CallEnd): RunResult<T> {
    switch (checkpoint.status) {
      case "failed":
        throw thrown;
      case "outOfSteps":
        throw recursionError(checkpoint);
      case "drained":
        throw new GraphError("GraphDrained", `Graph drained: ${checkpoint.drain}`);
    }
    return {
      status: checkpoint.status as RunResult<T>["status"],
      values: (output ?? null) as RunResult<T>["values"],
      questions: questionsOf(this.#program, checkpoint),
      waits: waitsOf(this.#program, checkpoint),
      unreleasedJoins: checkpoint.status === "done" ? joinsLeft(this.#program, checkpoint) : [],
      checkpointId: checkpoint.frames[""]!.head.id,
    };
  }

  async update(values: Json, options: UpdateOptions & { readonly asNode?: string } = {}) {
    return this.bulkUpdate(
      [[{ values, ...(options.asNode !== undefined && { asNode: options.asNode }) }]],
      options,
    );
  }

  async bulkUpdate(supersteps: readonly (readonly StateUpdate[])[], options: UpdateOptions = {}) {
    const checkpointer = this.#required();
    if (supersteps.length === 0) throw new GraphError("InvalidUpdateError", "the update has no steps");
    const thread = options.thread ?? defaultThread;
    return this.#exclusive(thread, async () => {
      const { stored } = await this.#ground(thread, options.checkpointId);
      const isAddressed = options.checkpointId !== undefined;
      let checkpoint = isAddressed ? stored!.committed : stored?.latest;
      for (const [index, step] of supersteps.entries()) {
        const edits = step.map((edit): Edit => ({ ...edit, values: plain(edit.values, "values") }));
        checkpoint = await this.#edit(thread, checkpoint, edits, options, isAddressed && index === 0);
        await checkpointer.save(thread, checkpoint);
      }
      const { head } = checkpoint!.frames[options.namespace ?? ""]!;
      return { checkpointId: head.id };
    });
  }

  async #edit(
    thread: string,
    checkpoint: Checkpoint | undefined,
    edits: readonly Edit[],
    options: UpdateOptions,
    isAddressed: boolean,
  ): Promise<Checkpoint> {
    const { requestId, run } = await this.#settings(thread, options);
    const first = update(this.#program, checkpoint, edits, {
      requestId,
      run,
      takesFinished: !isAddressed,
      ...(options.namespace !== undefined && { namespace: options.namespace }),
    });
    const call = new Call({
      ...this.#setup(thread, options),
      modes: new Set(),
      subgraphs: false,
      showsAllKeys: true,
      push: () => undefined,
      keep: () => undefined,
    });
    const end = await call.run(first);
    if (
      end.checkpoint.status === "failed" &&
      end.checkpoint.frames[options.namespace ?? ""]!.update !== undefined
    )
      throw end.thrown;
    return end.checkpoint;
  }

  #required(): Checkpointer {
    if (this.#checkpointer === undefined) throw noCheckpointer();
    return this.#checkpointer;
  }

  async state(options: Parameters<Runner<T>["state"]>[0] = {}): Promise<Snapshot> {
    const checkpointer = this.#required();
    const stored = await checkpointer.load(options.thread ?? defaultThread, options.checkpointId);
    if (stored === undefined) return nothing;
    return snapshot(this.#program, stored.latest, {
      ...(options.namespace !== undefined && { namespace: options.namespace }),
      appliesFinished: options.checkpointId === undefined,
      ...(options.subgraphs && { subgraphs: true }),
      reduce: reducerOf(this.#code as GraphCode),
      createdAt: new Date(stored.createdAt).toISOString(),
    });
  }

  async history(
    options: { readonly thread?: string; readonly limit?: number } = {},
  ): Promise<readonly Snapshot[]> {
    const stored = await this.#required().list(options.thread ?? defaultThread, options.limit);
    return stored.map(({ latest, createdAt }) =>
      snapshot(this.#program, latest, {
        appliesFinished: false,
        createdAt: new Date(createdAt).toISOString(),
      }),
    );
  }
}

/** Runs a graph in this process, without Temporal: for tests, for scripts, and for looking at what a graph does. */
export function createRunner<T extends GraphTypes>(
  code: GraphCode<T>,
  options: RunnerOptions = {},
): Runner<T> {
  return new LocalRunner(code, options);
}
