/** How a run of the invoice process stands: closed, parked, not there, or still going on. */
import { setTimeout as delay } from "node:timers/promises";
import { WorkflowFailedError, WorkflowNotFoundError, type WorkflowHandle } from "@temporalio/client";
import type { Standing } from "../../../crash-lab/lab-definition.js";
import { batchWorkflowId, invoiceWorkflowId } from "../../../workflows/invoice-approval/keys.js";
import type { InvoiceEnvironment } from "../environment.js";

/** How often it is asked whether there is something to wait for. Only the lab waits for it. */
const lookEveryMs = 100;

/** Waits for the end of a batch; when the signal is aborted first, says what is pending. */
export async function batchEnded(
  { client }: Pick<InvoiceEnvironment, "client">,
  batchId: string,
  signal: AbortSignal,
): Promise<Standing> {
  const handle = client.workflow.getHandle(batchWorkflowId(batchId));
  for (;;) {
    try {
      // Without the signal the question would be asked on, also when nobody is there any more to hear the answer.
      await client.connection.withAbortSignal(signal, () => handle.result());
      return { state: "closed" };
    } catch (error) {
      // A failed workflow has ended too; whether it should have is for its effects and invariants to say.
      if (error instanceof WorkflowFailedError) return { state: "closed" };
      if (signal.aborted) return standingOf(handle);
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    // Handed in, and not started yet.
    await delay(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Waits until an invoice is parked: its question is open in the recovery queue, and nothing else of it is pending.
 * Never settles when it isn't; ends with the signal.
 */
export async function invoiceParked(
  { client, ledger }: Pick<InvoiceEnvironment, "client" | "ledger">,
  invoiceKey: string,
  signal: AbortSignal,
): Promise<Standing> {
  const handle = client.workflow.getHandle(invoiceWorkflowId(invoiceKey));
  while (!signal.aborted) {
    const question = await ledger
      .selectFrom("recovery_queue")
      .select("id")
      .where("subject", "like", `%${invoiceKey}%`)
      .where("subject_kind", "=", "operation")
      .where("answered_at", "is", null)
      .executeTakeFirst();
    if (question !== undefined) {
      const standing = await standingOf(handle);
      if (standing.state === "open" && standing.pending.length === 0)
        return { state: "parked", recoveryRow: String(question.id) };
    }
    await delay(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return standingOf(handle);
}

async function standingOf(handle: WorkflowHandle): Promise<Standing> {
  try {
    const { status, raw } = await handle.describe();
    if (status.name !== "RUNNING") return { state: "closed" };
    const pending = (raw.pendingActivities ?? []).map(
      ({ activityType, attempt }) => `${activityType?.name ?? "activity"} (attempt ${attempt ?? 1})`,
    );
    const children = (raw.pendingChildren ?? []).map(({ workflowId }) => `child ${workflowId ?? ""}`);
    return { state: "open", pending: [...pending, ...children] };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: "absent" };
    throw error;
  }
}
