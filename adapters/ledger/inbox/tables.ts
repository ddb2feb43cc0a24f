import type { ColumnType, Generated } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { JsonColumn } from "../json.js";

/**
 * `received` → `done` | `ignored`; both ends are final. `done` means that the event's consequence is confirmed, not
 * that somebody was told; `ignored` that it can have none (an identity that isn't ours), with the reason.
 */
export type InboxState = "received" | "done" | "ignored";

export interface InboxTable {
  /** Who sent the event: `payments`. Ids of different sources never meet. */
  readonly source: string;
  readonly event_id: string;
  /** What it is about, as far as the receiver can tell: the article's key, the subscription's id. */
  readonly subject: string;
  readonly body_digest: string;
  readonly body: JsonColumn;
  state: Generated<InboxState>;
  available_at: Generated<Date>;
  claims: Generated<number>;
  owner: string | null;
  leased_until: Date | null;
  /** Proof of the consequence, or `{ reason }` of an ignored event. */
  consequence: ColumnType<JsonValue | null, string | undefined, string>;
  readonly received_at: Generated<Date>;
  settled_at: Date | null;
}

export interface InboxTables {
  inbox: InboxTable;
}
