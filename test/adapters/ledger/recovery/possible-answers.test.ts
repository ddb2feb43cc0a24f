import { expect, test } from "vitest";
import { possibleAnswers, type Question } from "../../../../adapters/ledger/recovery/possible-answers.js";
import { restartIn } from "../../../../adapters/ledger/recovery/restart-message.js";

const restart = { workflowId: "invoice:k", workflowType: "processInvoice", taskQueue: "q", args: [{}] };

function question(change: Partial<Question>): Question {
  return {
    subject_kind: "invoice",
    subject: "invoice:k",
    reason: "StepGaveUp",
    evidence: {},
    answers: [],
    ...change,
  };
}

test.each([
  ["a parked operation", { subject_kind: "operation", answers: ["adopt", "redrive"] }, ["adopt", "redrive"]],
  ["a mail", { subject_kind: "outbox", evidence: { kind: "mail" } }, ["adopt", "redrive"]],
  ["a start", { subject_kind: "outbox", evidence: { kind: "start" } }, ["redrive"]],
  ["an invoice that could succeed", { evidence: { restart } }, ["adopt", "redrive"]],
  ["an invoice without its input", {}, ["adopt"]],
  ["a file that can't be read", { reason: "InvalidDocument", evidence: { restart } }, ["adopt"]],
  ["a cancelled one", { reason: "Cancelled", evidence: { restart } }, ["adopt"]],
  ["a posting under way", { evidence: { restart, operationState: "submitting" } }, ["redrive"]],
  ["a posting never begun", { evidence: { restart, operationState: null } }, ["adopt", "redrive"]],
  ["a kind of another version", { subject_kind: "shipment" }, []],
])("%s takes what makes sense, and says what it does", (_what, change, answers) => {
  const possible = possibleAnswers(question(change as Partial<Question>));
  expect(possible.answers).toEqual(answers);
  expect(possible.advice).not.toBe("");
});

test("a process is started again only from a whole message, and also after its run failed", () => {
  expect(restartIn({ restart })).toEqual({ kind: "start", ...restart, again: true });
  expect(restartIn({ restart: { ...restart, args: "none" } })).toBeUndefined();
  expect(restartIn(null)).toBeUndefined();
});
