import { sql } from "kysely";

import type { IgnoredHints } from "../../../activities/invoice-approval/ports.js";
import type { IgnoredHint } from "../../../activities/invoice-approval/steps.js";
import type { Ledger } from "../database.js";
import { sha256, storableJson } from "../json.js";

/** Source of the inbox rows that are hints to a process. */
export const hintSource = "workflow-hint";

export function createIgnoredHints(ledger: Ledger): IgnoredHints {
  return { record: (hint) => recordIgnoredHint(ledger, hint) };
}

/**
 * Stores a hint as received and settled at once: it can have no consequence, so no dispatcher must find it.
 *
 * ```sql
 * insert into inbox (source, event_id, subject, body_digest, body, state, consequence, settled_at)
 *   values ('workflow-hint', $1, $2, $3, $4, 'ignored', $5, ledger_now())
 *   on conflict (source, event_id) do nothing
 * ```
 */
export async function recordIgnoredHint(ledger: Ledger, hint: IgnoredHint): Promise<void> {
  const { processingId, signal, content } = hint;
  const body = storableJson("hint", { signal, content });
  await ledger
    .insertInto("inbox")
    .values({
      source: hintSource,
      event_id: `${processingId}:${sha256(body)}`,
      subject: processingId,
      body_digest: sha256(body),
      body,
      state: "ignored",
      consequence: storableJson("consequence", { reason: "the hint names nothing of this process" }),
      settled_at: sql<Date>`ledger_now()`,
    })
    .onConflict((conflict) => conflict.columns(["source", "event_id"]).doNothing())
    .execute();
}
