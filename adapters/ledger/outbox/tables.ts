import type { ColumnType, Generated, GeneratedAlways } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { JsonColumn } from "../json.js";
import type { OutboxKind } from "./message.js";

/**
 * `pending` → `sent` | `failed`; both ends are final. A claimed row is `pending` with an `owner` and a
 * `leased_until`, and when that has passed anybody may claim it anew.
 */
export type OutboxState = "pending" | "sent" | "failed";

export interface OutboxTable {
  readonly id: GeneratedAlways<number>;
  /** What the message is, once and for all: a second message with the same key isn't written. */
  readonly message_key: string;
  readonly kind: OutboxKind;
  /** Messages with the same one are sent in the order of `id`: the workflow's id, or the mail's recipient. */
  readonly ordering_key: string;
  readonly body: JsonColumn;
  state: Generated<OutboxState>;
  /** Not claimed before; the back-off after a failed try. */
  available_at: Generated<Date>;
  /** How often the row was claimed. Together with `owner` it names one lease, also among leases of one owner. */
  claims: Generated<number>;
  owner: string | null;
  leased_until: Date | null;
  last_error: string | null;
  /** What was answered: the run id, the provider's message id. */
  outcome: ColumnType<JsonValue | null, never, string>;
  readonly enqueued_at: Generated<Date>;
  settled_at: Date | null;
}

export interface OutboxTables {
  outbox: OutboxTable;
}
