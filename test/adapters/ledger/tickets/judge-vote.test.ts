import { expect, test } from "vitest";

import {
  judgeVote,
  stateAfter,
  type TicketOnVote,
  type Vote,
  type VoteAnswer,
} from "../../../../adapters/ledger/tickets/judge-vote.js";

const ticket = (change: Partial<TicketOnVote> = {}): TicketOnVote => ({
  state: "open",
  revision: 2,
  fingerprint: "f",
  approvalsNeeded: 2,
  excludedVoters: ["submitter"],
  deadlinePassed: false,
  counted: [],
  ...change,
});
const cast = (change: Partial<Vote> = {}): Vote => ({
  ticketId: "t",
  decisionId: "d",
  voter: "ann",
  decision: "approve",
  revision: 2,
  fingerprint: "f",
  ...change,
});
const annApproved = [{ decisionId: "d0", voter: "ann", decision: "approve" as const }];

test.each<[string, TicketOnVote, Vote, VoteAnswer]>([
  ["first approval", ticket(), cast(), { answer: "counted", approvals: 1, approvalsNeeded: 2 }],
  [
    "second approval",
    ticket({ counted: annApproved }),
    cast({ voter: "bob" }),
    { answer: "decided", state: "approved" },
  ],
  ["one is enough", ticket({ approvalsNeeded: 1 }), cast(), { answer: "decided", state: "approved" }],
  [
    "a rejection ends it",
    ticket({ counted: annApproved }),
    cast({ voter: "bob", decision: "reject" }),
    { answer: "decided", state: "rejected" },
  ],
  [
    "nobody counts twice",
    ticket({ counted: annApproved }),
    cast(),
    { answer: "already-voted", decisionId: "d0" },
  ],
  [
    "nobody changes their mind",
    ticket({ counted: annApproved }),
    cast({ decision: "reject" }),
    { answer: "other-decision-stands", decisionId: "d0", decision: "approve" },
  ],
  [
    "an older revision",
    ticket(),
    cast({ revision: 1 }),
    { answer: "wrong-revision", expected: 2, offered: 1 },
  ],
  [
    "another content",
    ticket(),
    cast({ fingerprint: "g" }),
    { answer: "wrong-fingerprint", expected: "f", offered: "g" },
  ],
  ["an excluded voter", ticket(), cast({ voter: "submitter" }), { answer: "not-allowed" }],
  ["after the deadline", ticket({ deadlinePassed: true }), cast(), { answer: "expired" }],
  [
    "after the deadline, also what would be refused",
    ticket({ deadlinePassed: true }),
    cast({ revision: 1 }),
    { answer: "expired" },
  ],
  ["an expired ticket", ticket({ state: "expired" }), cast(), { answer: "expired" }],
  [
    "an approved ticket",
    ticket({ state: "approved" }),
    cast(),
    { answer: "already-closed", state: "approved" },
  ],
  [
    "a rejected ticket, also after the deadline",
    ticket({ state: "rejected", deadlinePassed: true }),
    cast(),
    { answer: "already-closed", state: "rejected" },
  ],
])("%s", (_, given, vote, answer) => {
  expect(judgeVote(given, vote)).toEqual(answer);
});

test("only a decision and the deadline end a ticket", () => {
  expect(stateAfter({ answer: "decided", state: "rejected" })).toBe("rejected");
  expect(stateAfter({ answer: "expired" })).toBe("expired");
  expect(stateAfter({ answer: "counted", approvals: 1, approvalsNeeded: 2 })).toBe("open");
  expect(stateAfter({ answer: "not-allowed" })).toBe("open");
});
