import { sql } from "kysely";

import type { Ledger } from "../database.js";

/**
 * How long until a pending message can be claimed by the clock alone: its back-off or its lease ends. For the
 * relay's timer, so that a message isn't late by a whole poll interval.
 *
 * ```sql
 * select min(greatest(available_at, leased_until)) - ledger_now() from outbox where state = 'pending'
 * ```
 *
 * @returns milliseconds, 0 when one is due, `undefined` when nothing is pending. A message behind an unsent one of
 *   its key counts too, so the answer may be early; it is never late.
 */
export async function nextOutboxDueMs(ledger: Ledger): Promise<number | undefined> {
  const { due_ms } = await ledger
    .selectFrom("outbox")
    .select(
      sql<number | null>`
        ceil(extract(epoch from min(greatest(available_at, leased_until)) - ledger_now()) * 1000)::bigint`.as(
        "due_ms",
      ),
    )
    .where("state", "=", "pending")
    .executeTakeFirstOrThrow();
  return due_ms === null ? undefined : Math.max(due_ms, 0);
}
