/**
 * Who was given which task. Temporal's history doesn't name the worker of an attempt that was lost; this does.
 */
import type { DeliveredTask } from "../event.js";

/** A task that was lost is never answered, so its record would stay for ever; the oldest go first. */
const recordsMax = 20_000;

export class DeliveryBook {
  private readonly byToken = new Map<string, DeliveredTask>();

  add(task: DeliveredTask): void {
    if (this.byToken.size >= recordsMax) this.byToken.delete(this.byToken.keys().next().value!);
    this.byToken.set(task.taskToken, task);
  }

  /** @param taskToken base64. */
  of(taskToken: string): DeliveredTask | null {
    return this.byToken.get(taskToken) ?? null;
  }

  /** The server has taken the answer to this task. */
  answered(taskToken: string): void {
    this.byToken.delete(taskToken);
  }

  /** Tasks that the process holds and the server waits for, oldest first. */
  open(): readonly DeliveredTask[] {
    return [...this.byToken.values()];
  }
}
