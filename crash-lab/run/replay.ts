import { Client, Connection, WorkflowNotFoundError, type HistoryAndWorkflowId } from "@temporalio/client";
import { DeterminismViolationError } from "@temporalio/workflow";
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import { LabFault } from "./lab-fault.js";

export interface ReplayResult {
  readonly ok: boolean;
  readonly detail: string;
}

/** Replays finished workflows with the code under test, through a connection of the lab's own. */
export class Replayer {
  #previous: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly client: Client,
    private readonly workflowBundle: WorkflowBundleOption,
  ) {}

  static async open(
    temporal: { readonly address: string; readonly namespace: string },
    workflows: { readonly codePath: string } | { readonly workflowsPath: string },
  ): Promise<Replayer> {
    quietRuntime();
    const connection = await Connection.connect({ address: temporal.address });
    const workflowBundle =
      "codePath" in workflows
        ? workflows
        : await bundleWorkflowCode({ workflowsPath: workflows.workflowsPath });
    return new Replayer(new Client({ connection, namespace: temporal.namespace }), workflowBundle);
  }

  /**
   * Replays the newest run of each workflow. One that was never started is passed over: whether it should have been
   * is for the effects to say.
   *
   * @throws LabFault when it can't be replayed for a reason that says nothing about the workflow code
   */
  replay(workflowIds: readonly string[]): Promise<ReplayResult> {
    // One after the other: each replay is a worker of its own, and two cores have no room for many at once.
    const replayed = this.#previous.then(() => this.#replayNow(workflowIds));
    this.#previous = replayed.catch(() => undefined);
    return replayed;
  }

  async #replayNow(workflowIds: readonly string[]): Promise<ReplayResult> {
    const histories = await Promise.all(workflowIds.map((workflowId) => this.#historyOf(workflowId)));
    const found = histories.filter((each) => each !== undefined);
    const results = Worker.runReplayHistories({ workflowBundle: this.workflowBundle }, found);
    for await (const { workflowId, error } of results) {
      if (error instanceof DeterminismViolationError)
        return { ok: false, detail: `${workflowId}: ${error.message}` };
      if (error) throw new LabFault(`${workflowId} can't be replayed: ${error.message}`);
    }
    return { ok: true, detail: "" };
  }

  async #historyOf(workflowId: string): Promise<HistoryAndWorkflowId | undefined> {
    try {
      return { workflowId, history: await this.client.workflow.getHandle(workflowId).fetchHistory() };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.client.connection.close();
  }
}

/** The SDK reports each replay's worker as it comes and goes. A process that has set up its own logging keeps it. */
function quietRuntime(): void {
  if (Runtime._instance === undefined) Runtime.install({ logger: new DefaultLogger("WARN") });
}
