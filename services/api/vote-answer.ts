/** From what the ledger made of a decision to what its sender is told. */
import { z } from "zod";
import type { Vote, VoteAnswer } from "../../adapters/ledger/tickets/judge-vote.js";
import type { VoteResult } from "../../adapters/ledger/tickets/vote.js";
import { ApiProblem } from "./problems.js";

export const decisionAnswerSchema = z.discriminatedUnion("answer", [
  z.object({
    answer: z.literal("counted").meta({ description: "It counts, and the review waits for more." }),
    approvals: z.number(),
    approvalsNeeded: z.number(),
  }),
  z.object({
    answer: z.literal("decided").meta({ description: "It counts, and it ended the review." }),
    state: z.enum(["approved", "rejected"]),
  }),
]);

export type CountingAnswer = Extract<VoteAnswer, { answer: "counted" | "decided" }>;

/**
 * Decisions that count are answers; every other one is a problem. The same decision id gets the same answer, since
 * this is a function of what the ledger stored with it.
 *
 * @throws ApiProblem
 */
export function answerToVote(reviewId: string, cast: Vote, result: VoteResult): CountingAnswer {
  switch (result.answer) {
    case "counted":
    case "decided":
      return result;
    case "expired":
      throw new ApiProblem("ReviewExpired", `${reviewId} has expired`);
    case "already-closed":
      throw new ApiProblem("ReviewClosed", `${reviewId} has ended as ${result.state}`, {
        state: result.state,
      });
    case "wrong-revision":
    case "wrong-fingerprint": {
      const field = result.answer === "wrong-revision" ? "revision" : "fingerprint";
      const { expected, offered } = result;
      throw new ApiProblem(
        "ReviewMismatch",
        `${reviewId} is about the ${field} ${expected}; the decision is about ${offered}`,
        { field, expected, offered },
      );
    }
    case "not-allowed":
      throw new ApiProblem("NotAllowed", `${cast.voter} handed in what ${reviewId} is about`);
    case "already-voted":
      throw new ApiProblem("AlreadyDecided", `${cast.voter} decided the same under ${result.decisionId}`, {
        decisionId: result.decisionId,
      });
    case "other-decision-stands":
      throw new ApiProblem(
        "AlreadyDecided",
        `${cast.voter} decided to ${result.decision} under ${result.decisionId}; that stands`,
        { decisionId: result.decisionId, decision: result.decision },
      );
    case "unknown-ticket":
      throw new ApiProblem("UnknownReview", `there is no review ${JSON.stringify(reviewId)}`);
    case "decision-id-reused":
      throw new ApiProblem(
        "DecisionIdReused",
        `${cast.decisionId} stands for a decision with another ${result.field}`,
        { field: result.field },
      );
  }
}
