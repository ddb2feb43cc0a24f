import type { LedgerTransaction } from "../database.js";
import { storableJson } from "../json.js";
import { orderingKeyOf, type OutboxMessage } from "./message.js";

/**
 * Writes a message into the transaction that decides it: sent if and only if that transaction commits. A second
 * message with the same key isn't written, so a repeated decision doesn't notify twice.
 *
 * ```sql
 * insert into outbox (message_key, kind, ordering_key, body) values ($1, $2, $3, $4)
 *   on conflict (message_key) do nothing
 * ```
 *
 * Messages of one ordering key keep the order of two transactions only when these follow each other, as they do
 * under a row lock that both take; transactions that run side by side have no order that could be kept.
 *
 * @param messageKey what the message is: `mail:<ticket>:<reviewer>`, `hint:<ticket>:closed`.
 */
export async function enqueue(
  transaction: LedgerTransaction,
  messageKey: string,
  message: OutboxMessage,
): Promise<"enqueued" | "existing"> {
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto("outbox")
    .values({
      message_key: messageKey,
      kind: message.kind,
      ordering_key: orderingKeyOf(message),
      body: storableJson("message", message),
    })
    .onConflict((conflict) => conflict.column("message_key").doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 0n ? "existing" : "enqueued";
}
