import type { LedgerTransaction } from "../database.js";
import { closeTicket } from "./close-ticket.js";
import { countedVotes } from "./counted-votes.js";
import type { CountedVote } from "./judge-vote.js";
import { lockTicket } from "./lock-ticket.js";
import type { TicketState } from "./tables.js";

export interface TicketEnd {
  readonly outcome: "ended";
  readonly state: Exclude<TicketState, "open">;
  /** What was decided on. */
  readonly revision: number;
  readonly fingerprint: string;
  readonly payloadDigest: string;
  readonly votes: readonly CountedVote[];
}

export type ResolveResult =
  | TicketEnd
  /**
   * The ledger's clock says that the deadline hasn't passed and nobody has decided. A timer that fired early by
   * another clock asks again after `remainingMs`.
   */
  | { readonly outcome: "not-yet"; readonly remainingMs: number }
  | { readonly outcome: "unknown-ticket" };

/**
 * How a ticket ended. Past the deadline an open ticket is closed as expired here, so whoever asks first settles it
 * for everybody: no decision can be committed after an "expired" was given. A decision that was committed before
 * the deadline wins, however late its hint comes.
 *
 * ```sql
 * -- lockTicket, and closeTicket when the deadline has passed
 * select … from ticket_votes where ticket_id = $1 and counted;
 * ```
 */
export async function resolveTicket(
  transaction: LedgerTransaction,
  ticketId: string,
): Promise<ResolveResult> {
  const ticket = await lockTicket(transaction, ticketId);
  if (ticket === undefined) {
    return { outcome: "unknown-ticket" };
  }
  let state = ticket.state;
  if (state === "open") {
    if (!ticket.deadlinePassed) {
      return { outcome: "not-yet", remainingMs: ticket.remainingMs };
    }
    await closeTicket(transaction, ticket, "expired");
    state = "expired";
  }
  return {
    outcome: "ended",
    state,
    revision: ticket.revision,
    fingerprint: ticket.fingerprint,
    payloadDigest: ticket.payload_digest,
    votes: await countedVotes(transaction, ticketId),
  };
}
