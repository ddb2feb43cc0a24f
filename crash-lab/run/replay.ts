import { DeterminismViolationError } from "@temporalio/workflow";
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import type { WorkflowHistory } from "./histories.js";
import { LabFault } from "./lab-fault.js";

export interface ReplayResult {
  readonly ok: boolean;
  readonly detail: string;
}

interface Waiting {
  readonly history: WorkflowHistory;
  readonly resolve: (error: Error | undefined) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Replays histories with the code under test. One worker does them all, one after the other: to start it costs more
 * than to replay a hundred histories.
 */
export class Replayer {
  readonly #queue: Waiting[] = [];
  #wake: () => void = () => undefined;
  #closed = false;
  #running: Promise<void> | undefined;

  private constructor(private readonly workflowBundle: WorkflowBundleOption) {}

  static async open(
    workflows: { readonly codePath: string } | { readonly workflowsPath: string },
  ): Promise<Replayer> {
    quietRuntime();
    return new Replayer(
      "codePath" in workflows
        ? workflows
        : await bundleWorkflowCode({ workflowsPath: workflows.workflowsPath }),
    );
  }

  /** @throws LabFault when one can't be replayed for a reason that says nothing about the workflow code */
  async replay(histories: readonly WorkflowHistory[]): Promise<ReplayResult> {
    const errors = await Promise.all(histories.map((history) => this.#replayed(history)));
    for (const [at, error] of errors.entries()) {
      const { workflowId } = histories[at]!;
      if (error instanceof DeterminismViolationError)
        return { ok: false, detail: `${workflowId}: ${error.message}` };
      if (error) throw new LabFault(`${workflowId} can't be replayed: ${error.message}`);
    }
    return { ok: true, detail: "" };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
    await this.#running;
  }

  #replayed(history: WorkflowHistory): Promise<Error | undefined> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ history, resolve, reject });
      this.#running ??= this.#run();
      this.#wake();
    });
  }

  async #run(): Promise<void> {
    const given: Waiting[] = [];
    let reason = "the replaying worker was closed";
    try {
      const results = Worker.runReplayHistories({ workflowBundle: this.workflowBundle }, this.#take(given));
      // They come in the order in which the histories were taken.
      for await (const { error } of results) given.shift()!.resolve(error);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    this.#running = undefined;
    for (const { history, reject } of [...given, ...this.#queue.splice(0)])
      reject(new LabFault(`${history.workflowId} can't be replayed: ${reason}`));
  }

  async *#take(given: Waiting[]): AsyncGenerator<WorkflowHistory> {
    for (;;) {
      const next = this.#queue.shift();
      if (next) {
        given.push(next);
        yield next.history;
      } else if (this.#closed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** The SDK reports the replaying worker as it comes and goes. A process that has set up its own logging keeps it. */
function quietRuntime(): void {
  if (Runtime._instance === undefined) Runtime.install({ logger: new DefaultLogger("WARN") });
}
