import type { Decision, TicketState } from "./tables.js";

/** One decision, as whoever decides sent it. */
export interface Vote {
  readonly ticketId: string;
  /** Made by the one who decides; the same id gets its first answer again. */
  readonly decisionId: string;
  readonly voter: string;
  readonly decision: Decision;
  /** What the voter saw. */
  readonly revision: number;
  readonly fingerprint: string;
}

/** What a decision was answered. Kept with the decision, refusals too. */
export type VoteAnswer =
  /** It counts, and the ticket waits for more. */
  | { readonly answer: "counted"; readonly approvals: number; readonly approvalsNeeded: number }
  /** It counts, and it ended the ticket. */
  | { readonly answer: "decided"; readonly state: "approved" | "rejected" }
  /** The deadline has passed by the ledger's clock; it doesn't count. */
  | { readonly answer: "expired" }
  /** The ticket had ended before. */
  | { readonly answer: "already-closed"; readonly state: TicketState }
  /** The voter saw something else than what is to be decided. */
  | { readonly answer: "wrong-revision"; readonly expected: number; readonly offered: number }
  | { readonly answer: "wrong-fingerprint"; readonly expected: string; readonly offered: string }
  /** The voter must not decide on this. */
  | { readonly answer: "not-allowed" }
  /** The voter's same decision counts already, under another id; nobody counts twice. */
  | { readonly answer: "already-voted"; readonly decisionId: string }
  /** The voter decided otherwise before; that stands. */
  | { readonly answer: "other-decision-stands"; readonly decisionId: string; readonly decision: Decision };

/** A ticket under its row lock, with what has been counted on it. */
export interface TicketOnVote {
  readonly state: TicketState;
  readonly revision: number;
  readonly fingerprint: string;
  readonly approvalsNeeded: number;
  readonly excludedVoters: readonly string[];
  /** By `ledger_now()`, asked after the lock was got. */
  readonly deadlinePassed: boolean;
  readonly counted: readonly CountedVote[];
}

export interface CountedVote {
  readonly decisionId: string;
  readonly voter: string;
  readonly decision: Decision;
}

/**
 * What a decision means for a ticket. The first rule that holds gives the answer: an ended ticket, the deadline,
 * who decides, on what, whether the voter decided before, and only then the decision itself. One rejection ends a
 * ticket; an approval ends it when enough different voters have approved.
 */
export function judgeVote(ticket: TicketOnVote, vote: Vote): VoteAnswer {
  if (ticket.state === "expired") {
    return { answer: "expired" };
  }
  if (ticket.state !== "open") {
    return { answer: "already-closed", state: ticket.state };
  }
  if (ticket.deadlinePassed) {
    return { answer: "expired" };
  }
  return refusalOf(ticket, vote) ?? count(ticket, vote);
}

function refusalOf(ticket: TicketOnVote, vote: Vote): VoteAnswer | undefined {
  if (ticket.excludedVoters.includes(vote.voter)) {
    return { answer: "not-allowed" };
  }
  if (vote.revision !== ticket.revision) {
    return { answer: "wrong-revision", expected: ticket.revision, offered: vote.revision };
  }
  if (vote.fingerprint !== ticket.fingerprint) {
    return { answer: "wrong-fingerprint", expected: ticket.fingerprint, offered: vote.fingerprint };
  }
  const before = ticket.counted.find((each) => each.voter === vote.voter);
  if (before === undefined) {
    return undefined;
  }
  return before.decision === vote.decision
    ? { answer: "already-voted", decisionId: before.decisionId }
    : { answer: "other-decision-stands", decisionId: before.decisionId, decision: before.decision };
}

function count(ticket: TicketOnVote, vote: Vote): VoteAnswer {
  if (vote.decision === "reject") {
    return { answer: "decided", state: "rejected" };
  }
  const approvals = ticket.counted.filter((each) => each.decision === "approve").length + 1;
  return approvals >= ticket.approvalsNeeded
    ? { answer: "decided", state: "approved" }
    : { answer: "counted", approvals, approvalsNeeded: ticket.approvalsNeeded };
}

/** The state in which an answer leaves an open ticket. */
export function stateAfter(answer: VoteAnswer): TicketState {
  if (answer.answer === "decided") {
    return answer.state;
  }
  return answer.answer === "expired" ? "expired" : "open";
}
