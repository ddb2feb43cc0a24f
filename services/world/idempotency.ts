/** The first answer of each idempotency key. */
import type pg from "pg";
import type { WireAnswer } from "./answer.js";
import type { System } from "./faults/fault.js";

export interface StoredAnswer {
  readonly requestDigest: string;
  readonly answer: WireAnswer;
}

/** @returns the answer to give again, marked as such, or `undefined` for a key that was never seen (or forgotten). */
export async function storedAnswer(
  pool: pg.Pool,
  system: System,
  key: string,
): Promise<StoredAnswer | undefined> {
  const { rows } = await pool.query<{
    request_digest: string;
    status: number;
    media_type: string;
    answer: string;
  }>(
    "select request_digest, status, media_type, answer from idempotency_records where system = $1 and key = $2",
    [system, key],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    requestDigest: row.request_digest,
    answer: {
      status: row.status,
      mediaType: row.media_type,
      body: row.answer,
      headers: { "idempotent-replayed": "true" },
    },
  };
}

export async function rememberAnswer(
  client: pg.Pool | pg.PoolClient,
  record: { system: System; key: string; digest: string; answer: WireAnswer },
): Promise<void> {
  const { system, key, digest, answer } = record;
  await client.query(
    `insert into idempotency_records (system, key, request_digest, status, media_type, answer)
     values ($1, $2, $3, $4, $5, $6)`,
    [system, key, digest, answer.status, answer.mediaType, answer.body.toString()],
  );
}

/** Drops the key's record when it is at least that old, by the clock of the database. */
export async function forgetExpired(
  pool: pg.Pool,
  system: System,
  key: string,
  liveForMs: number,
): Promise<void> {
  await pool.query(
    `delete from idempotency_records
     where system = $1 and key = $2 and recorded_at <= clock_timestamp() - $3 * interval '1 millisecond'`,
    [system, key, liveForMs],
  );
}
