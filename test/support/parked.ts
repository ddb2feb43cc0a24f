/** A posting that is parked, and a person who looks into accounting's books and answers. */
import { expect, vi } from "vitest";
import type { PostingReceipt } from "../../activities/ports.js";
import { createOperationJournal } from "../../adapters/ledger/operations/journal.js";
import type { InvoiceRig } from "./invoice-rig.js";

/** The open question about the operation. @throws when none is asked within half a minute */
export async function openQuestion(
  { database }: Pick<InvoiceRig, "database">,
  operationKey: string,
): Promise<number> {
  return vi.waitFor(
    async () => {
      const row = await database.ledger
        .selectFrom("recovery_queue")
        .select("id")
        .where("subject", "=", operationKey)
        .where("answered_at", "is", null)
        .executeTakeFirst();
      expect(row, `a question about ${operationKey}`).toBeDefined();
      return Number(row!.id);
    },
    { timeout: 30_000, interval: 50 },
  );
}

/** Answers with what accounting shows for the invoice. Nobody is told of it. */
export async function parkedThenAnswered(
  rig: InvoiceRig,
  invoiceKey: string,
  operationKey: string,
): Promise<PostingReceipt> {
  const recoveryId = await openQuestion(rig, operationKey);
  const [posted] = await rig.world.journal.postingsOf(invoiceKey);
  const looked = await rig.accounting().find!(posted!.posting, { signal: new AbortController().signal });
  if (looked.found !== "present") throw new Error(`accounting shows ${looked.found}`);
  const { receipt } = looked;
  const answered = await createOperationJournal(rig.database.ledger).answer({
    recoveryId,
    answerId: `${operationKey}-answer`,
    by: "test",
    answer: { answer: "adopt", receipt },
  });
  expect(answered).toMatchObject({ result: "answered", state: "confirmed" });
  return receipt;
}
