/** Sends the outbox's mails through the mail system. */
import { createHash } from "node:crypto";
import type { Answer } from "../../activities/operation/provider.js";
import type { Mail, MailReceipt } from "../../activities/ports.js";
import type { Delivery, Sender } from "../../adapters/ledger/outbox/delivery.js";

/**
 * A mail carries its message key, so a second sending of the same one is answered with the first one's receipt, as
 * long as the system remembers the key. When it may have forgotten it, a mail that may have been sent isn't sent
 * again: a person gets to know, as a second mail would tell a reviewer of a second round.
 */
export function createMailSender(mail: Mail): Sender<"mail"> {
  const { honoursKeys, keysLiveForMs } = mail.policy;
  return async (claimed) => {
    const { to, subject, text } = claimed.message;
    const forgotten = !honoursKeys || (keysLiveForMs !== null && claimed.ageMs > keysLiveForMs / 2);
    if (claimed.claim > 1 && forgotten) {
      return {
        delivery: "failed",
        reason: "an earlier try may have sent it, and the mail system may have forgotten its key",
        outcome: { claims: claimed.claim, ageMs: claimed.ageMs },
        needsPerson: true,
      };
    }
    const reference = referenceOf(claimed.messageKey);
    return deliveryOf(
      await mail.send(
        { reference, to, subject, text },
        // The provider has its own time-out.
        { providerKey: reference, signal: new AbortController().signal },
      ),
    );
  };
}

/** What the mail system takes as a reference, and as a key; it refuses a longer one each time it is sent. */
const referenceCharactersMax = 200;

/** The message key where it fits, else its digest: the same for the same message, and another for another. */
export function referenceOf(messageKey: string): string {
  if (messageKey.length <= referenceCharactersMax) return messageKey;
  return `mail:${createHash("sha256").update(messageKey).digest("hex")}`;
}

/** What the mail system's answer means for the message. */
export function deliveryOf(answer: Answer<MailReceipt>): Delivery {
  const failed = (reason: string): Delivery => ({
    delivery: "failed",
    reason,
    outcome: { answer: answer.outcome },
    needsPerson: true,
  });
  switch (answer.outcome) {
    case "done":
    case "superseded":
      return { delivery: "sent", outcome: { messageReference: answer.receipt.messageReference } };
    case "refused":
      return failed(`refused: ${answer.code}: ${answer.detail}`);
    case "conflict":
    case "exists":
      return failed(`another mail was sent under this key: ${answer.detail}`);
    case "accepted":
      return failed("the mail system answered with a long-running operation, which mails don't have");
    case "inProgress":
      return { delivery: "again", error: "still being sent", retryAfterMs: answer.retryAfterMs };
    case "unknown":
      return {
        delivery: "again",
        error: answer.cause,
        ...(answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs }),
      };
  }
}
