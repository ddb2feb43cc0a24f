/** The demo's explanations, apart from what happens in it. */
import type { KillObserved } from "./kill-after-posting.js";

/** `595.00 EUR`, from what accounting says it booked. */
export function moneyOf({ postings }: KillObserved): string {
  const posting = postings[0]?.posting;
  if (!posting) return "nothing";
  return `${(posting.amountMinor / 100).toFixed(2)} ${posting.currency}`;
}

/** Why it came out as it did. */
export function explain({ variant, postings }: KillObserved): string[] {
  if (variant === "naive" && postings.length > 1)
    return [
      "The second worker knew nothing of the first posting and made another one. Temporal did what it promises:",
      "it repeated the step. What it can't know is what the outside world had already done.",
    ];
  if (variant === "safe" && postings.length === 1)
    return [
      'The second worker found in the journal that the posting "may have been sent", sent it again under the same',
      "key, and accounting gave the first answer again instead of posting twice.",
    ];
  return [];
}

export function summaryLine({ variant, postings, victim, invoiceKey }: KillObserved): string {
  const name = variant.padEnd(5);
  const count = `${postings.length} posting${postings.length === 1 ? " " : "s"}`;
  const verdict = postings.length === 1 ? "once" : postings.length === 0 ? "lost" : "DUPLICATED";
  return `${name}  ${verdict.padEnd(10)}  ${count}  of ${invoiceKey}  (killed: process ${victim.pid}, ${victim.signal})`;
}
