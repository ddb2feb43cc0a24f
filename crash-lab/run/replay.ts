import { Client, Connection } from "@temporalio/client";
import { bundleWorkflowCode, Worker, type WorkflowBundleOption } from "@temporalio/worker";

export interface ReplayResult {
  readonly ok: boolean;
  readonly detail: string;
}

/** Replays finished workflows with the code under test, through a connection of the lab's own. */
export class Replayer {
  private constructor(
    private readonly client: Client,
    private readonly workflowBundle: WorkflowBundleOption,
  ) {}

  static async open(
    temporal: { readonly address: string; readonly namespace: string },
    workflows: { readonly codePath: string } | { readonly workflowsPath: string },
  ): Promise<Replayer> {
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
   */
  async replay(workflowIds: readonly string[]): Promise<ReplayResult> {
    for (const workflowId of workflowIds) {
      const history = await this.client.workflow
        .getHandle(workflowId)
        .fetchHistory()
        .catch((error: unknown) => {
          if (error instanceof Error && error.name === "WorkflowNotFoundError") return undefined;
          throw error;
        });
      if (!history) continue;
      try {
        await Worker.runReplayHistory({ workflowBundle: this.workflowBundle }, history, workflowId);
      } catch (error) {
        return {
          ok: false,
          detail: `${workflowId}: ${error instanceof Error ? error.message : String(error)}`,
        };
      }
    }
    return { ok: true, detail: "" };
  }

  async close(): Promise<void> {
    await this.client.connection.close();
  }
}
