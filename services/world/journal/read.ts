/** Reading the journal, with the judge's role. */
import { once } from "node:events";
import type pg from "pg";
import type { Journal } from "./append.js";
import type { JournalEntry } from "./entry.js";

export interface JournalQuery {
  /** Only rows with a higher number. */
  readonly after: number;
  readonly limit: number;
  /** Only rows whose business key carries this token as a delimited part. */
  readonly run?: string | undefined;
  readonly system?: string | undefined;
  /** With no row to give, wait up to this long for one. */
  readonly waitMs: number;
}

/** @param stop ends the waiting, for instance because the reader has gone. */
export async function readJournal(
  judge: pg.Pool,
  journal: Journal,
  query: JournalQuery,
  stop: AbortSignal,
): Promise<JournalEntry[]> {
  const waiting = AbortSignal.any([stop, AbortSignal.timeout(query.waitMs)]);
  for (;;) {
    // Listening starts before the read, or a row that is written in between would be waited for in vain.
    const heard = new AbortController();
    const appended = once(journal.events, "appended", {
      signal: AbortSignal.any([waiting, heard.signal]),
    }).catch(() => undefined);
    const entries = await select(judge, query);
    if (entries.length > 0 || query.waitMs === 0 || waiting.aborted) {
      heard.abort();
      return entries;
    }
    await appended;
  }
}

async function select(judge: pg.Pool, { after, limit, run, system }: JournalQuery): Promise<JournalEntry[]> {
  const { rows } = await judge.query<Omit<JournalEntry, "seq" | "at"> & { seq: string; at: Date }>(
    `select seq, at, system, operation, kind, request_id as "requestId", business_key as key,
            idempotency_key as "idempotencyKey", digest, content, status, faults
     from journal
     where seq > $1
       and ($2::text is null or $2 = any (regexp_split_to_array(business_key, '[^A-Za-z0-9]+')))
       and ($3::text is null or system = $3)
     order by seq
     limit $4`,
    [after, run ?? null, system ?? null, limit],
  );
  return rows.map((row) => ({ ...row, seq: Number(row.seq), at: row.at.toISOString() }));
}
