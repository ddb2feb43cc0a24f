import type { Generated } from "kysely";

import type { JsonColumn } from "../json.js";

/** `open` → `approved` | `rejected` | `expired` | `withdrawn`; the ends are final. */
export type TicketState = "open" | "approved" | "rejected" | "expired" | "withdrawn";

export type Decision = "approve" | "reject";

/** The authoritative record of one decision. Everything but the end is immutable. */
export interface TicketTable {
  /** The review or approval id; a new round is a new ticket. */
  readonly ticket_id: string;
  readonly kind: string;
  readonly tenant: string;
  /** What is being processed: the processing id. */
  readonly subject: string;
  /** Of the content that is to be decided on. A vote names it, so nobody approves what they didn't see. */
  readonly revision: number;
  readonly fingerprint: string;
  /** The stored payload that is decided on. */
  readonly payload_digest: string;
  /** Who waits for the decision, and gets the hint. */
  readonly workflow_id: string;
  readonly approvals_needed: number;
  /** Who must not decide: whoever submitted it. */
  readonly excluded_voters: Generated<readonly string[]>;
  readonly deadline_at: Date;
  readonly opened_at: Generated<Date>;
  state: Generated<TicketState>;
  closed_at: Date | null;
}

/** One decision as it came, with the answer that it got; refused ones too, so that each id keeps its answer. */
export interface TicketVoteTable {
  readonly ticket_id: string;
  /** Made by whoever decides; unique in its ticket. */
  readonly decision_id: string;
  readonly voter: string;
  readonly decision: Decision;
  readonly revision: number;
  readonly fingerprint: string;
  /** Whether it counts towards the ticket's end; at most one for each voter. */
  readonly counted: boolean;
  readonly answer: JsonColumn;
  readonly voted_at: Generated<Date>;
}

export interface TicketTables {
  tickets: TicketTable;
  ticket_votes: TicketVoteTable;
}
