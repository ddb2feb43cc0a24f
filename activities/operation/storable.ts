/**
 * What a provider says goes into the journal, and the journal is a database: it holds neither U+0000 nor half a surrogate
 * pair. An answer with one of them would be refused there each time, so that nothing were ever recorded, the request sent
 * again without end, and nobody asked. So an answer is made fit to be kept where it comes in.
 */
import type { JsonValue } from "./json.js";
import type { Answer, Found } from "./provider.js";

/** U+FFFD, which Unicode keeps for what can't be shown. */
const replacement = "\uFFFD";

const unstorable = /\0|\p{Surrogate}/u;
const everyUnstorable = /\0|\p{Surrogate}/gu;

/** Can a text be kept as it is? The ledger asks this, too. */
export const isStorableText = (text: string): boolean => !unstorable.test(text);

/** A text for people, with a replacement for each character that can't be kept. */
export const storableText = (text: string): string => text.replace(everyUnstorable, replacement);

/** Can it be kept exactly as it is? Receipts are compared, so nothing in them may be replaced. */
export function isStorable(value: JsonValue): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value === "boolean") return true;
  return Array.isArray(value)
    ? value.every(isStorable)
    : Object.entries(value).every(
        ([key, part]) => isStorable(key) && (part === undefined || isStorable(part)),
      );
}

/** A receipt that can't be kept proves nothing that could be shown later, so the outcome stays open. */
export function storableAnswer<Receipt extends JsonValue>(answer: Answer<Receipt>): Answer<Receipt> {
  switch (answer.outcome) {
    case "done":
    case "superseded":
      return isStorable(answer.receipt) ? answer : { outcome: "unknown", cause: notKept(answer.receipt) };
    case "accepted":
      return isStorable(answer.operationUrl)
        ? answer
        : { outcome: "unknown", cause: notKept(answer.operationUrl) };
    case "refused":
      return { ...answer, code: storableText(answer.code), detail: storableText(answer.detail) };
    case "exists":
    case "conflict":
      return { ...answer, detail: storableText(answer.detail) };
    case "unknown":
      return { ...answer, cause: storableText(answer.cause) };
    case "inProgress":
      return answer;
  }
}

export function storableFound<Receipt extends JsonValue>(found: Found<Receipt>): Found<Receipt> {
  switch (found.found) {
    case "present":
      return isStorable(found.receipt) ? found : { found: "unknown", cause: notKept(found.receipt) };
    case "unknown":
      return { ...found, cause: storableText(found.cause) };
    case "absent":
      return found;
  }
}

const notKept = (value: JsonValue): string =>
  `answered with what can't be kept: ${storableText(JSON.stringify(value))}`;
