/** What can be seen of a run from outside, for people and holds that wait for it. */
import { setTimeout as delay } from "node:timers/promises";
import { WorkflowNotFoundError } from "@temporalio/client";
import { sql } from "kysely";
import { invoiceWorkflowId } from "../../../workflows/invoice-approval/keys.js";
import type { InvoiceEnvironment } from "../environment.js";

/** How often somebody looks who waits for something to be there. */
const lookEveryMs = 50;

/** Resolves when it is so; rejects with the signal's reason when the signal is aborted first. */
export async function untilSeen(signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(lookEveryMs, undefined, { signal });
}

/** By the clock that alone counts, the ledger's. False while there is no such review. */
export async function deadlinePassed(
  { ledger }: Pick<InvoiceEnvironment, "ledger">,
  reviewId: string,
): Promise<boolean> {
  const ticket = await ledger
    .selectFrom("tickets")
    .select(sql<boolean>`deadline_at <= ledger_now()`.as("passed"))
    .where("ticket_id", "=", reviewId)
    .executeTakeFirst();
  return ticket?.passed ?? false;
}

/** Somebody's decision is in the ledger, counted or not. */
export async function isDecidedOn(
  { ledger }: Pick<InvoiceEnvironment, "ledger">,
  reviewId: string,
): Promise<boolean> {
  const vote = await ledger
    .selectFrom("ticket_votes")
    .select("decision_id")
    .where("ticket_id", "=", reviewId)
    .executeTakeFirst();
  return vote !== undefined;
}

/** The invoice's own clock has rung, by its history. */
export async function timerFired(
  { client }: Pick<InvoiceEnvironment, "client">,
  invoiceKey: string,
): Promise<boolean> {
  try {
    const { events } = await client.workflow.getHandle(invoiceWorkflowId(invoiceKey)).fetchHistory();
    return (events ?? []).some((event) => event.timerFiredEventAttributes);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
