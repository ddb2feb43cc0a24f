import type { Generated } from "kysely";

import type { EffectOutcome, ParkReason, TryReason } from "../../../activities/operation/journal.js";
import type { JsonValue } from "../../../activities/operation/json.js";
import type { OperationState } from "../../../activities/operation/states.js";

/** One row for each operation key: what is known now. */
export interface OperationTable {
  readonly key: string;
  readonly provider: string;
  readonly state: OperationState;
  /** Raised by each take-over; guards guesses. */
  readonly epoch: number;
  /** The current row in `operation_tries`. */
  readonly try_number: number;
  readonly owner_id: string | null;
  readonly generation: number | null;
  /** The last send of the current try; null while it was never sent. */
  readonly submitted_at: Date | null;
  readonly submitted_epoch: number | null;
  /** Since when the outcome has been open; an answer `redrive` counts anew. */
  readonly uncertain_since: Date | null;
  readonly receipt: JsonValue | null;
  readonly outcome: EffectOutcome | null;
  readonly operation_url: string | null;
  readonly poll_after_ms: number | null;
  readonly refusal_code: string | null;
  readonly refusal_detail: string | null;
  readonly parked_reason: ParkReason | null;
  readonly created_at: Date;
  readonly changed_at: Date;
}

/** One row for each provider key, written before the key is used. */
export interface OperationTryTable {
  readonly key: string;
  readonly number: number;
  readonly provider_key: string;
  readonly fingerprint: string;
  readonly projection_version: number;
  readonly repair: number;
  readonly opened_for: TryReason;
  readonly opened_at: Date;
  readonly first_submitted_at: Date | null;
}

/** What happened, in order; rows are only added. */
export interface OperationEventTable {
  readonly id: Generated<number>;
  readonly key: string;
  readonly at: Date;
  readonly verb: string;
  /** The state that the operation came to. */
  readonly state: OperationState;
  /** The epoch of the one who wrote, which is an old one for a zombie's receipt. */
  readonly epoch: number;
  readonly try_number: number;
  /** Null for a person's answer. */
  readonly attempt: number | null;
  readonly worker: string;
  readonly why: string;
  readonly detail: JsonValue | null;
}

/** What needs a person or a reconciler. */
export interface RecoveryQueueTable {
  readonly id: Generated<number>;
  /** `operation`, or what another part of the ledger parks. */
  readonly subject_kind: string;
  readonly subject: string;
  readonly reason: string;
  readonly evidence: JsonValue;
  /** The answers that this question takes. */
  readonly answers: readonly string[];
  readonly opened_at: Date;
  readonly answered_at: Date | null;
  readonly answered_by: string | null;
  readonly answer_id: string | null;
  readonly answer: JsonValue | null;
}

/** The current generation of an owner. */
export interface GenerationTable {
  readonly owner_id: string;
  readonly generation: number;
  readonly state: "provisioning" | "activated" | "fenced";
  readonly changed_at: Date;
}

export interface OperationTables {
  operations: OperationTable;
  operation_tries: OperationTryTable;
  operation_events: OperationEventTable;
  recovery_queue: RecoveryQueueTable;
  generations: GenerationTable;
}
