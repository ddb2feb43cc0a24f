import type { ColumnType, Generated } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { JsonColumn } from "../json.js";

/**
 * `admitted` → `running` → `completed` | `failed` | `parked`, and from `parked` on again. A request is *open* until
 * it is completed or failed.
 */
export type RequestState = "admitted" | "running" | "parked" | "completed" | "failed";

/** One admitted request. Everything but the state and the result is immutable. */
export interface RequestTable {
  readonly request_id: string;
  /** Who asked; keys of different callers never meet. */
  readonly caller: string;
  readonly idempotency_key: string;
  /** Which process it asks for: `invoice-batch`. */
  readonly kind: string;
  readonly tenant: string;
  /** SHA-256 of the canonical JSON of the body: the same key with another one is a conflict. */
  readonly fingerprint: string;
  readonly workflow_id: string;
  readonly body: JsonColumn;
  state: Generated<RequestState>;
  result: ColumnType<JsonValue | null, never, string | null>;
  readonly admitted_at: Generated<Date>;
  state_changed_at: Generated<Date>;
}

export interface RequestTables {
  requests: RequestTable;
}
