import { sql } from "kysely";

import type { Entrant, Refusal, Stale } from "../../../activities/operation/journal.js";
import type { Ledger } from "../database.js";
import { read } from "./read.js";
import { inStateBefore, once, recordEvent, stale } from "./statement.js";

/**
 * `accepted` → `failed-at-provider`, by any epoch, if the failure is that of the stored long-running operation.
 *
 * ```sql
 * update operations set state = 'failed-at-provider' … where key = $1 and operation_url = $2 and state = 'accepted'
 * ```
 */
export async function failAtProvider(
  ledger: Ledger,
  failed: Entrant & { readonly key: string; readonly operationUrl: string } & Refusal,
): Promise<{ readonly result: "failed-at-provider" } | Stale> {
  const { key, operationUrl, code, detail } = failed;
  const done = { result: "failed-at-provider" } as const;
  const result = await once(
    async () => {
      const { rows } = await sql`
        with changed as (
          update operations o
          set state = 'failed-at-provider', refusal_code = ${code}, refusal_detail = ${detail},
              changed_at = ledger_now()
          where o.key = ${key} and o.operation_url = ${operationUrl} and ${inStateBefore("failAtProvider")}
          returning o.*
        ), event as (
          ${recordEvent("failAtProvider", failed, { why: code, detail: { code, detail } })}
        )
        select key from changed`.execute(ledger);
      return rows.length === 1 ? done : undefined;
    },
    async () => {
      const operation = await read(ledger, key);
      return operation?.state === "failed-at-provider" && operation.accepted?.operationUrl === operationUrl
        ? done
        : undefined;
    },
  );
  return result ?? stale;
}
