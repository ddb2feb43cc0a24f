/** What a node function of a case may use beside its state. */
export interface FunctionContext {
  /** Asks a question: gives the answer, or stops the task until there is one. */
  interrupt(question: unknown): unknown;
  /** Emits a chunk of the `custom` stream. */
  write(chunk: unknown): void;
  sleep(ms: number): Promise<void>;
  /** Attempt of this task, from 1. */
  readonly attempt: number;
  readonly context: Record<string, unknown> | undefined;
  /** Calls of this node in the case so far, this one included. */
  count(): number;
  /** Asks the run to stop at the next boundary. */
  drain(): void;
  readonly store: {
    get(namespace: string[], key: string): Promise<unknown>;
    put(namespace: string[], key: string, value: unknown): Promise<void>;
  };
  /** Runs the graph in the node's argument `graph` on this input. */
  runGraph?(input: unknown): Promise<unknown>;
}

/** What an error handler gets: the node that failed and why. */
export interface HandlerContext {
  readonly error: { readonly node: string; readonly message: string };
}

export type Factory<Run> = (args: Record<string, unknown>) => Run;
export type NodeFunction = (state: unknown, context: FunctionContext) => unknown;
export type HandlerFunction = (state: unknown, context: HandlerContext) => unknown;
export type RouteFunction = (state: unknown, context: Pick<FunctionContext, "interrupt">) => unknown;
export type ReducerFunction = (current: unknown, update: unknown) => unknown;

/** The functions that the cases of one file name. A handler is found among the node functions. */
export interface FunctionLibrary {
  readonly nodeFns: Record<string, Factory<NodeFunction & HandlerFunction>>;
  readonly routeFns: Record<string, Factory<RouteFunction>>;
  readonly reducers: Record<string, ReducerFunction>;
}

/** A case names a function that its library doesn't have, or is otherwise not what the form asks for. */
export class CaseFileError extends Error {
  override readonly name = "CaseFileError";
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Counts the calls of the functions of one case, and keeps the messages of the errors that they threw: those are the
 * author's own words, so every engine must pass them on unchanged, while an engine's own messages may differ.
 */
export class CallRecorder {
  readonly calls: Record<string, number> = {};
  readonly thrown = new Set<string>();

  constructor(private readonly isOwnError: (error: unknown) => boolean) {}

  /** Runs a function as a call of the node `id`. */
  async call<Result>(id: string, run: () => Result | Promise<Result>): Promise<Result> {
    this.calls[id] = this.count(id) + 1;
    return this.watch(run);
  }

  /** Runs a router, a handler or a reducer, whose calls aren't counted. */
  async watch<Result>(run: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof Error && this.isOwnError(error)) this.thrown.add(error.message);
      throw error;
    }
  }

  count(id: string): number {
    return this.calls[id] ?? 0;
  }
}
