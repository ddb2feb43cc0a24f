import { Client, Connection, WorkflowNotFoundError } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import type { DeliveredTask } from "../taps/event.js";
import { reportDead } from "./obituary.js";

export interface WorkflowHistory {
  readonly workflowId: string;
  readonly runId: string;
  readonly history: temporal.api.history.v1.IHistory;
}

/** Reads histories, and reports deaths, through a connection of the lab's own. */
export class Histories {
  private constructor(
    private readonly client: Client,
    private readonly connection: Connection,
  ) {}

  static async open(temporalPeer: {
    readonly address: string;
    readonly namespace: string;
  }): Promise<Histories> {
    const connection = await Connection.connect({ address: temporalPeer.address });
    return new Histories(new Client({ connection, namespace: temporalPeer.namespace }), connection);
  }

  /**
   * All runs of each workflow that a worker was given work for, in that order; the newest where none was. Workflows
   * that were never started are left out.
   *
   * @param given the tasks that the taps saw delivered: visibility, which could list the runs, lags behind
   */
  async of(
    workflowIds: readonly string[],
    given: readonly Pick<DeliveredTask, "workflowId" | "runId">[],
  ): Promise<readonly WorkflowHistory[]> {
    const runs = workflowIds.flatMap((workflowId) => {
      const seen = given.filter((task) => task.workflowId === workflowId).map(({ runId }) => runId);
      const runIds: readonly (string | undefined)[] = seen.length > 0 ? [...new Set(seen)] : [undefined];
      return runIds.map((runId) => ({ workflowId, runId }));
    });
    const found = await Promise.all(runs.map(({ workflowId, runId }) => this.#historyOf(workflowId, runId)));
    return found.filter((each) => each !== undefined);
  }

  async #historyOf(workflowId: string, runId: string | undefined): Promise<WorkflowHistory | undefined> {
    try {
      const history = await this.client.workflow.getHandle(workflowId, runId).fetchHistory();
      const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
      return { workflowId, runId: runId ?? started?.originalExecutionRunId ?? "", history };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** See `reportDead` of the obituary. */
  reportDead(tasks: readonly DeliveredTask[]): Promise<void> {
    return reportDead(this.connection, this.client.options.namespace, tasks);
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}
