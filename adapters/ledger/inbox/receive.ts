import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";
import { sha256, storableJson } from "../json.js";

export interface IncomingEvent {
  readonly source: string;
  readonly eventId: string;
  readonly subject: string;
  readonly body: JsonValue;
}

export type ReceiveResult =
  | { readonly outcome: "new"; readonly digest: string }
  /** A repeated delivery: acknowledge it again. */
  | { readonly outcome: "same"; readonly digest: string }
  /** The id stands for another body; nothing was stored. */
  | { readonly outcome: "conflict"; readonly storedDigest: string; readonly offeredDigest: string };

/**
 * Stores an event once for each (source, event id). Only after this has committed may it be acknowledged: an event
 * acknowledged first is lost by a crash in between.
 *
 * ```sql
 * insert into inbox (source, event_id, subject, body_digest, body) values (…)
 *   on conflict (source, event_id) do nothing returning event_id;
 * -- no row: the id is taken
 * select body_digest from inbox where source = $1 and event_id = $2;
 * ```
 *
 * Bodies are compared by the digest of their canonical JSON, so a sender that writes its fields in another order
 * the second time sends the same event.
 *
 * @throws `NotStorable` when the body isn't JSON that Postgres can hold.
 */
export async function receive(ledger: Ledger, event: IncomingEvent): Promise<ReceiveResult> {
  const body = storableJson("body", event.body);
  const digest = sha256(body);
  const inserted = await ledger
    .insertInto("inbox")
    .values({
      source: event.source,
      event_id: event.eventId,
      subject: event.subject,
      body_digest: digest,
      body,
    })
    .onConflict((conflict) => conflict.columns(["source", "event_id"]).doNothing())
    .returning("event_id")
    .executeTakeFirst();
  if (inserted !== undefined) {
    return { outcome: "new", digest };
  }
  const stored = await ledger
    .selectFrom("inbox")
    .select("body_digest")
    .where("source", "=", event.source)
    .where("event_id", "=", event.eventId)
    .executeTakeFirstOrThrow();
  return stored.body_digest === digest
    ? { outcome: "same", digest }
    : { outcome: "conflict", storedDigest: stored.body_digest, offeredDigest: digest };
}
