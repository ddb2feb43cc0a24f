import { sql } from "kysely";

import type { NextTry, OperationSnapshot, Stale } from "../../../activities/operation/journal.js";
import { providerKeyOf } from "../../../activities/operation/keys.js";
import type { Ledger } from "../database.js";
import { prepared } from "../prepared-statements.js";
import { read } from "./read.js";
import { snapshotColumns, toSnapshot, type SnapshotRow } from "./snapshot.js";
import { inStateBefore, once, recordEvent, stale } from "./statement.js";

/**
 * A try that is proved to have had no effect → `intended` with the next one, whose provider key is stored here, before
 * anything can be sent under it. By the current epoch only, and only if the try that ended is still the current one.
 *
 * Another fingerprint than the ended try's is refused by the statement itself, except after a refusal or on a try that
 * an answer opened and that was never sent.
 *
 * ```sql
 * update operations set state = 'intended', try_number = try_number + 1, submitted_at = null …
 * where key = $1 and epoch = $2 and try_number = $3 and state in (…) returning *
 * ```
 */
export async function nextTry(
  ledger: Ledger,
  next: NextTry,
): Promise<{ readonly result: "intended"; readonly operation: OperationSnapshot } | Stale> {
  const result = await once<{ readonly result: "intended"; readonly operation: OperationSnapshot }>(
    async () => {
      const row = await write(ledger, next);
      return row === undefined ? undefined : { result: "intended", operation: toSnapshot(row) };
    },
    async () => {
      const operation = await read(ledger, next.key);
      return operation?.state === "intended" &&
        operation.epoch === next.epoch &&
        operation.try.number === next.endedTry + 1
        ? { result: "intended", operation }
        : undefined;
    },
  );
  return result ?? stale;
}

async function write(ledger: Ledger, next: NextTry): Promise<SnapshotRow | undefined> {
  const number = next.endedTry + 1;
  const { digest, version } = next.fingerprint;
  const { rows } = await sql<SnapshotRow>`${prepared}
    with changed as (
      update operations o
      set state = 'intended', try_number = ${number}, submitted_at = null, submitted_epoch = null,
          uncertain_since = null, refusal_code = null, refusal_detail = null, changed_at = ledger_now()
      from operation_tries ended
      where o.key = ${next.key} and o.epoch = ${next.epoch} and o.try_number = ${next.endedTry}
        and ${inStateBefore("nextTry")}
        and ended.key = o.key and ended.number = o.try_number
        and (o.state = 'refused'
          or (o.state = 'intended' and ended.opened_for = 'answer')
          or (o.state in ('submitting', 'unknown') and ended.fingerprint = ${digest}
              and ended.projection_version = ${version}))
      returning o.*
    ), opened as (
      insert into operation_tries
        (key, number, provider_key, fingerprint, projection_version, repair, opened_for, opened_at)
      select key, ${number}::integer, ${providerKeyOf(next.key, number)}::text, ${digest}::text, ${version}::integer,
             ${next.repair}::integer, ${next.openedFor}::text, changed_at
      from changed
      returning *
    ), event as (
      ${recordEvent("nextTry", next, { why: next.why })}
    )
    select ${snapshotColumns} from changed o join opened t on t.key = o.key`.execute(ledger);
  return rows[0];
}
