import type { Ledger } from "../database.js";
import type { Vote, VoteAnswer } from "./judge-vote.js";

/** A stored decision with the answer that it got. */
export interface StoredVote extends Omit<Vote, "ticketId"> {
  readonly answer: VoteAnswer;
}

/**
 * Reads a decision by its id.
 *
 * ```sql
 * select … from ticket_votes where ticket_id = $1 and decision_id = $2
 * ```
 */
export async function readVote(
  ledger: Ledger,
  ticketId: string,
  decisionId: string,
): Promise<StoredVote | undefined> {
  const row = await ledger
    .selectFrom("ticket_votes")
    .select(["decision_id", "voter", "decision", "revision", "fingerprint", "answer"])
    .where("ticket_id", "=", ticketId)
    .where("decision_id", "=", decisionId)
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : {
        decisionId: row.decision_id,
        voter: row.voter,
        decision: row.decision,
        revision: row.revision,
        fingerprint: row.fingerprint,
        answer: row.answer as VoteAnswer,
      };
}
