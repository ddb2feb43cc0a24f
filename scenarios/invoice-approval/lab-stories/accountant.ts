/**
 * Who answers the questions about parked postings: looks into accounting, as a person does on its own screen, and
 * tells the ledger what is there. They go on until the invoice has ended, since a posting may park again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { answerParked } from "../../../adapters/ledger/operations/answer-parked.js";
import type { ParkAnswer } from "../../../activities/operation/journal.js";
import type { PostingReceipt } from "../../../activities/ports.js";
import { postingKey } from "../../../workflows/invoice-approval/keys.js";
import type { InvoiceEnvironment } from "../environment.js";
import type { InvoiceScene } from "./story.js";

const lookEveryMs = 50;

export async function answerQuestions(
  { environment, token, signal }: InvoiceScene,
  invoiceKey: string,
): Promise<void> {
  while (!signal.aborted) {
    const question = await openQuestion(environment, invoiceKey);
    if (question === undefined) {
      await delay(lookEveryMs, undefined, { signal });
      continue;
    }
    await answerParked(environment.ledger, {
      recoveryId: question.id,
      // One answer to one question, also when it is sent twice.
      answerId: `${token}-answer-${question.id}`,
      by: "accountant",
      answer: await whatIsThere(environment, invoiceKey),
    });
  }
}

function openQuestion({ ledger }: InvoiceEnvironment, invoiceKey: string) {
  return ledger
    .selectFrom("recovery_queue")
    .select("id")
    .where("subject_kind", "=", "operation")
    .where("subject", "=", postingKey(invoiceKey))
    .where("answered_at", "is", null)
    .executeTakeFirst();
}

/** @throws Error when accounting doesn't answer: then there is nothing to tell */
async function whatIsThere({ world }: InvoiceEnvironment, invoiceKey: string): Promise<ParkAnswer> {
  const { baseUrl, apiKey } = world.accounting;
  const response = await fetch(`${baseUrl}/postings?${new URLSearchParams({ invoiceKey })}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  if (!response.ok) throw new Error(`accounting answered ${response.status} to the accountant`);
  const { items } = (await response.json()) as { readonly items: readonly PostingReceipt[] };
  const [receipt, ...others] = items;
  if (others.length > 0) throw new Error(`${items.length} postings carry ${invoiceKey}`);
  return receipt === undefined ? { answer: "absent" } : { answer: "adopt", receipt };
}
