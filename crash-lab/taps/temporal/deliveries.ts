/**
 * Who was given which task. Temporal's history doesn't name the worker of an attempt that was lost; this does.
 */
import type { DeliveredTask } from "../event.js";

/** Records are kept after the answer, because an answer that was lost is sent again; the oldest go first. */
const recordsMax = 20_000;

export class DeliveryBook {
  private readonly byToken = new Map<string, DeliveredTask>();
  private readonly answeredTokens = new Set<string>();

  add(task: DeliveredTask): void {
    if (this.byToken.size >= recordsMax) {
      const oldest = this.byToken.keys().next().value!;
      this.byToken.delete(oldest);
      this.answeredTokens.delete(oldest);
    }
    this.byToken.set(task.taskToken, task);
  }

  /** @param taskToken base64. */
  of(taskToken: string): DeliveredTask | null {
    return this.byToken.get(taskToken) ?? null;
  }

  /** The server has taken the answer to this task. */
  answered(taskToken: string): void {
    if (this.byToken.has(taskToken)) this.answeredTokens.add(taskToken);
  }

  /** Tasks that the process holds and the server waits for, oldest first. */
  open(): readonly DeliveredTask[] {
    return [...this.byToken.values()].filter(({ taskToken }) => !this.answeredTokens.has(taskToken));
  }
}
