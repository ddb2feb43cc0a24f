import type { JsonValue } from "../../../activities/operation/json.js";
import type { LedgerTransaction } from "../database.js";
import { storableJson } from "../json.js";
import { closeTicket } from "./close-ticket.js";
import { countedVotes } from "./counted-votes.js";
import { judgeVote, stateAfter, type Vote, type VoteAnswer } from "./judge-vote.js";
import { lockTicket } from "./lock-ticket.js";
import { readVote } from "./read-vote.js";

export type VoteResult =
  | VoteAnswer
  | { readonly answer: "unknown-ticket" }
  /** The decision id stands for another decision on this ticket; nothing was stored. */
  | {
      readonly answer: "decision-id-reused";
      readonly field: "voter" | "decision" | "revision" | "fingerprint";
    };

/**
 * Takes one decision, under the ticket's row lock: two voters at once are one after the other, so the second one
 * counts the first one's vote. The decision and its answer are stored, and when it ends the ticket, that and the
 * hint to the workflow are in the same transaction.
 *
 * Who may vote at all is the caller's to check; the ticket itself refuses only its excluded voters.
 *
 * ```sql
 * -- lockTicket
 * select … from ticket_votes where ticket_id = $1 and decision_id = $2;   -- a known id: its first answer
 * select … from ticket_votes where ticket_id = $1 and counted;
 * insert into ticket_votes (…) values (…);
 * -- closeTicket, when decided or expired
 * ```
 */
export async function vote(transaction: LedgerTransaction, cast: Vote): Promise<VoteResult> {
  const ticket = await lockTicket(transaction, cast.ticketId);
  if (ticket === undefined) {
    return { answer: "unknown-ticket" };
  }
  const known = await readVote(transaction, cast.ticketId, cast.decisionId);
  if (known !== undefined) {
    const field = (["voter", "decision", "revision", "fingerprint"] as const).find(
      (name) => known[name] !== cast[name],
    );
    return field === undefined ? known.answer : { answer: "decision-id-reused", field };
  }
  const answer = judgeVote(
    {
      state: ticket.state,
      revision: ticket.revision,
      fingerprint: ticket.fingerprint,
      approvalsNeeded: ticket.approvals_needed,
      excludedVoters: ticket.excluded_voters,
      deadlinePassed: ticket.deadlinePassed,
      counted: await countedVotes(transaction, cast.ticketId),
    },
    cast,
  );
  await transaction
    .insertInto("ticket_votes")
    .values({
      ticket_id: cast.ticketId,
      decision_id: cast.decisionId,
      voter: cast.voter,
      decision: cast.decision,
      revision: cast.revision,
      fingerprint: cast.fingerprint,
      counted: answer.answer === "counted" || answer.answer === "decided",
      answer: storableJson("answer", answer satisfies JsonValue),
    })
    .execute();
  const state = stateAfter(answer);
  if (ticket.state === "open" && state !== "open") {
    await closeTicket(transaction, ticket, state);
  }
  return answer;
}
