/** What a person can answer to an open question, and what each answer would do. Pure. */
import type { Selectable } from "kysely";

import type { RecoveryQueueTable } from "../operations/tables.js";
import { restartIn } from "./restart-message.js";

export const operatorAnswers = ["adopt", "absent", "redrive"] as const;

export type OperatorAnswer = (typeof operatorAnswers)[number];

/** Why the sweep opened a question about an invoice: its process was ended from outside. */
export const processEnded = "process-ended";

export interface PossibleAnswers {
  /** Empty: nothing can be answered. */
  readonly answers: readonly OperatorAnswer[];
  /** What each answer does, or what helps instead. */
  readonly advice: string;
}

export type Question = Pick<
  Selectable<RecoveryQueueTable>,
  "subject_kind" | "subject" | "reason" | "evidence" | "answers"
>;

/** Failures that the same invoice under the same revision would only meet again. */
const helpedOnlyByAnother: Readonly<Record<string, string>> = {
  InvalidDocument: "The file can't be read as an invoice; hand in a corrected file",
  OperationRefused: "Accounting refused it for good and nothing was posted; hand in a corrected revision",
  OperationConflict: "The posting's key stands for other content; look at which of the two is right",
  ReviewWithdrawn: "Its review was withdrawn; hand it in again in another batch",
  ReviewNotAvailable:
    "It was admitted under a policy without reviews; hand it in again under one that has them",
  PayloadTooLarge: "It is larger than the ledger keeps; hand in a smaller file",
  NotStorable: "It holds what the ledger can't keep; hand in a corrected file",
  Cancelled: "It was cancelled on purpose; hand it in again in another batch if it is wanted after all",
};

export function possibleAnswers(question: Question): PossibleAnswers {
  switch (question.subject_kind) {
    case "operation":
      return {
        answers: operatorAnswers.filter((answer) => question.answers.includes(answer)),
        advice:
          "adopt: it is there, under this reference. absent: it isn't there and can't come any more, so it is sent " +
          "under a new key. redrive: the reason has gone, ask and send again by the same rules.",
      };
    case "outbox":
      return aboutMessage(question);
    case "invoice":
      return aboutInvoice(question);
    default:
      return { answers: [], advice: `This version knows no answer to a ${question.subject_kind}.` };
  }
}

function aboutMessage({ evidence }: Question): PossibleAnswers {
  const { kind } = evidence as { readonly kind?: unknown };
  return kind === "mail"
    ? {
        answers: ["adopt", "redrive"],
        advice:
          "adopt: the mail has arrived, or its reader knows by another way; nothing is sent. redrive: send it again " +
          "under a new key; if it did arrive, it arrives twice.",
      }
    : {
        answers: ["redrive"],
        advice: "redrive: what Temporal refused it for is repaired, send the same message again.",
      };
}

function aboutInvoice({ reason, evidence }: Question): PossibleAnswers {
  const adopt =
    "adopt: it was dealt with in another way, and the reference says where; the question is closed.";
  const hopeless = helpedOnlyByAnother[reason];
  if (hopeless !== undefined) return { answers: ["adopt"], advice: `${hopeless}. ${adopt}` };
  if (restartIn(evidence) === undefined) {
    return { answers: ["adopt"], advice: `Nothing tells how to start its process again. ${adopt}` };
  }
  const redrive = "redrive: start its process again, with the same input and under the same keys.";
  // What accounting holds isn't known; the process asks, and parks where asking gives nothing.
  if (isUncertain(evidence)) return { answers: ["redrive"], advice: redrive };
  return { answers: ["adopt", "redrive"], advice: `${redrive} ${adopt}` };
}

function isUncertain(evidence: unknown): boolean {
  const { operationState } = evidence as { readonly operationState?: unknown };
  return typeof operationState === "string" && operationState !== "refused";
}
