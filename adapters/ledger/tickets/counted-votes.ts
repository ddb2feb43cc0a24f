import type { Ledger } from "../database.js";
import type { CountedVote } from "./judge-vote.js";

/**
 * The decisions that count on a ticket, in the order they came.
 *
 * ```sql
 * select … from ticket_votes where ticket_id = $1 and counted order by voted_at, decision_id
 * ```
 */
export async function countedVotes(ledger: Ledger, ticketId: string): Promise<readonly CountedVote[]> {
  const rows = await ledger
    .selectFrom("ticket_votes")
    .select(["decision_id", "voter", "decision"])
    .where("ticket_id", "=", ticketId)
    .where("counted", "=", true)
    .orderBy("voted_at")
    .orderBy("decision_id")
    .execute();
  return rows.map((row) => ({ decisionId: row.decision_id, voter: row.voter, decision: row.decision }));
}
