/** What an operator sees: open questions and what waits too long, in one form. */
import { listEvents } from "../../adapters/ledger/operations/list-events.js";
import type { Ledger } from "../../adapters/ledger/database.js";
import { listQuestions, type OpenQuestion } from "../../adapters/ledger/recovery/list-questions.js";
import { listWaiting, type Waiting } from "../../adapters/ledger/recovery/list-waiting.js";
import type { JsonValue } from "../../activities/operation/json.js";

export interface OpsEntry {
  /** A question's number, or the kind and the id of what waits. */
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly reason: string;
  readonly ageMs: number;
  readonly evidence: JsonValue;
  /** Empty: nothing to answer, and `advice` says why. */
  readonly answers: readonly string[];
  readonly advice: string;
  /** Of a question that was answered. */
  readonly answered?: { readonly by: string; readonly answerId: string | null; readonly answer: JsonValue };
}

export type OpsDetail = OpsEntry & {
  /** What happened to the operation, the oldest first. */
  readonly events?: readonly JsonValue[];
};

export async function listEntries(ledger: Ledger, waitingMs: number): Promise<readonly OpsEntry[]> {
  const questions = await listQuestions(ledger);
  const waiting = await listWaiting(ledger, waitingMs);
  return [...questions.map(ofQuestion), ...waiting.map(ofWaiting)];
}

/** @returns `undefined` when there is nothing under the id, or it doesn't wait any more */
export async function readEntry(ledger: Ledger, id: string): Promise<OpsDetail | undefined> {
  const entry = await findEntry(ledger, id);
  if (entry?.kind !== "operation") return entry;
  const events = await listEvents(ledger, entry.subject);
  return { ...entry, events: JSON.parse(JSON.stringify(events)) as JsonValue[] };
}

async function findEntry(ledger: Ledger, id: string): Promise<OpsEntry | undefined> {
  const number = questionNumber(id);
  if (number !== undefined) {
    const [question] = await listQuestions(ledger, number);
    return question && ofQuestion(question);
  }
  const waiting = await listWaiting(ledger, 0);
  const found = waiting.find((each) => each.id === id);
  return found && ofWaiting(found);
}

/** @returns `undefined` when the id isn't a question's */
export function questionNumber(id: string): number | undefined {
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}

function ofQuestion(question: OpenQuestion): OpsEntry {
  const { subject_kind, subject, reason, evidence, ageMs, advice, answered_by } = question;
  return {
    id: String(question.id),
    kind: subject_kind,
    subject,
    reason,
    ageMs,
    evidence,
    answers: answered_by === null ? question.answers : [],
    advice: answered_by === null ? advice : "It was answered.",
    ...(answered_by === null
      ? {}
      : { answered: { by: answered_by, answerId: question.answer_id, answer: question.answer } }),
  };
}

function ofWaiting(waiting: Waiting): OpsEntry {
  return { ...waiting, answers: [] };
}
