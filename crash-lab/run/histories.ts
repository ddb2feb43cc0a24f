import { Client, Connection, WorkflowNotFoundError } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import type { DeliveredTask } from "../taps/event.js";
import { reportDead } from "./obituary.js";

export interface WorkflowHistory {
  readonly workflowId: string;
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

  /** The newest run of each workflow; those that were never started are left out. */
  async of(workflowIds: readonly string[]): Promise<readonly WorkflowHistory[]> {
    const found = await Promise.all(workflowIds.map((workflowId) => this.#historyOf(workflowId)));
    return found.filter((each) => each !== undefined);
  }

  async #historyOf(workflowId: string): Promise<WorkflowHistory | undefined> {
    try {
      return { workflowId, history: await this.client.workflow.getHandle(workflowId).fetchHistory() };
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
