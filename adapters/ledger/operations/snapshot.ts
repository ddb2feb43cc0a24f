import { sql, type RawBuilder } from "kysely";

import type {
  EffectOutcome,
  OperationSnapshot,
  ParkReason,
  TryReason,
} from "../../../activities/operation/journal.js";
import type { JsonValue } from "../../../activities/operation/json.js";
import type { OperationState } from "../../../activities/operation/states.js";

/** An operation with its current try, as every verb reads it. Times in milliseconds since 1970. */
export interface SnapshotRow {
  readonly key: string;
  readonly state: OperationState;
  readonly epoch: number;
  readonly owner_id: string | null;
  readonly generation: number | null;
  readonly submitted_ms: number | null;
  readonly submitted_epoch: number | null;
  readonly uncertain_ms: number | null;
  readonly receipt: JsonValue | null;
  readonly outcome: EffectOutcome | null;
  readonly operation_url: string | null;
  readonly poll_after_ms: number | null;
  readonly refusal_code: string | null;
  readonly refusal_detail: string | null;
  readonly parked_reason: ParkReason | null;
  readonly number: number;
  readonly provider_key: string;
  readonly fingerprint: string;
  readonly projection_version: number;
  readonly repair: number;
  readonly opened_for: TryReason;
  readonly first_submitted_ms: number | null;
  readonly now_ms: number;
}

/**
 * The columns of `SnapshotRow`, from an operation called `o` and its current try called `t`. As a verb's statement
 * can't see its own changes, `o` and `t` are there what the changing parts of it return.
 */
export const snapshotColumns: RawBuilder<unknown> = sql`
  o.key, o.state, o.epoch, o.owner_id, o.generation, o.submitted_epoch, o.receipt, o.outcome,
  o.operation_url, o.poll_after_ms, o.refusal_code, o.refusal_detail, o.parked_reason,
  t.number, t.provider_key, t.fingerprint, t.projection_version, t.repair, t.opened_for,
  date_part('epoch', o.submitted_at) * 1000 as submitted_ms,
  date_part('epoch', o.uncertain_since) * 1000 as uncertain_ms,
  date_part('epoch', t.first_submitted_at) * 1000 as first_submitted_ms,
  date_part('epoch', ledger_now()) * 1000 as now_ms`;

export function toSnapshot(row: SnapshotRow): OperationSnapshot {
  return {
    key: row.key,
    state: row.state,
    epoch: row.epoch,
    try: {
      number: row.number,
      providerKey: row.provider_key,
      fingerprint: { version: row.projection_version, digest: row.fingerprint },
      repair: row.repair,
      openedFor: row.opened_for,
      firstSubmittedAt: row.first_submitted_ms,
    },
    submitted:
      row.submitted_ms === null || row.submitted_epoch === null
        ? null
        : { at: row.submitted_ms, epoch: row.submitted_epoch },
    uncertainSince: row.uncertain_ms,
    owner:
      row.owner_id === null || row.generation === null
        ? null
        : { id: row.owner_id, generation: row.generation },
    receipt: row.receipt,
    outcome: row.outcome,
    accepted:
      row.operation_url === null || row.poll_after_ms === null
        ? null
        : { operationUrl: row.operation_url, pollAfterMs: row.poll_after_ms },
    refusal:
      row.refusal_code === null || row.refusal_detail === null
        ? null
        : { code: row.refusal_code, detail: row.refusal_detail },
    parkedFor: row.parked_reason,
    now: row.now_ms,
  };
}
