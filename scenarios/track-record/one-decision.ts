/** An invoice that two people have to approve, and what makes two decisions or two effects out of one. */
import type { PublicCase } from "./case.js";
import { playChangedAmountNaive, playChangedAmountRight } from "./changed-amount.js";
import { playDoubleClickNaive, playDoubleClickRight } from "./double-click.js";
import { playKilledReminder } from "./killed-reminder.js";

export const oneDecision: PublicCase = {
  id: "O6",
  title: "One decision, and its effects once",
  sources: [
    "Extra-Chill/data-machine #3302",
    "tinyhumansai/opencompany #438, #846, #978",
    "microsoft/powercat-business-approvals-kit #292",
    "langchain-ai/langgraph #7895",
  ],
  happened:
    "Approvals that were repeated, or came while another was being worked on, were counted or carried out again; " +
    "requests for an approval were sent twice; an old approval let something newer through.",
  variants: [
    {
      id: "a",
      tells:
        "One approver clicks twice, the other's approval comes meanwhile, the worker is killed before it reports, the deadline passes.",
      expected: { naive: "duplicated", right: "once" },
      play: (stage, side) => (side === "naive" ? playDoubleClickNaive(stage) : playDoubleClickRight(stage)),
    },
    {
      id: "b",
      tells: "The amount is changed when the first of two has approved it.",
      expected: { naive: "diverged", right: "once" },
      play: (stage, side) =>
        side === "naive" ? playChangedAmountNaive(stage) : playChangedAmountRight(stage),
    },
    {
      id: "c",
      tells: "Whoever sends the reviewers' mails is killed when the first one has gone out.",
      expected: { naive: "duplicated", right: "once" },
      play: (stage, side) => playKilledReminder(stage, side, true),
    },
    {
      id: "c-no-keys",
      tells: "The same at a mail system that knows no keys.",
      expected: { naive: "duplicated", right: "parked" },
      play: (stage, side) => playKilledReminder(stage, side, false),
    },
  ],
};
