import { sql } from "kysely";

import type { AcceptedOperation, Claim, Stale } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { prepared } from "../prepared-statements.js";
import { read } from "./read.js";
import { inStateBefore, once, recordEvent, stale } from "./statement.js";

/**
 * `submitting` or `unknown` → `accepted`, by any epoch: where to ask about the long-running operation is a fact.
 *
 * ```sql
 * update operations set state = 'accepted', operation_url = $3 … where key = $1 and try_number = $2 and state in (…)
 * ```
 */
export async function accept(
  ledger: Ledger,
  accepted: Claim & { readonly tryNumber: number } & AcceptedOperation,
): Promise<{ readonly result: "accepted" } | Stale> {
  const { key, tryNumber, epoch, operationUrl, pollAfterMs } = accepted;
  const done = { result: "accepted" } as const;
  const result = await once(
    async () => {
      const { rows } = await sql`${prepared}
        with changed as (
          update operations o
          set state = 'accepted', operation_url = ${operationUrl}, poll_after_ms = ${pollAfterMs},
              changed_at = ledger_now()
          where o.key = ${key} and o.try_number = ${tryNumber} and ${inStateBefore("accept")}
          returning o.*
        ), event as (
          ${recordEvent("accept", accepted, { why: "taken on by the provider", detail: { operationUrl }, epoch })}
        )
        select key from changed`.execute(ledger);
      return rows.length === 1 ? done : undefined;
    },
    async () => {
      const operation = await read(ledger, key);
      return operation?.state === "accepted" && operation.accepted?.operationUrl === operationUrl
        ? done
        : undefined;
    },
  );
  return result ?? stale;
}
