/** What the mail system publishes about its answers. Pure. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { MailMessage, MailReceipt } from "../../../activities/ports.js";
import type { PublishedAnswers } from "../answers.js";

const problems = "https://mail.example/problems";

export const mailAnswers: PublishedAnswers<MailReceipt> = {
  receipt: z.object({
    messageReference: z.string().min(1),
    reference: z.string().min(1),
    to: z.string().min(1),
    subject: z.string(),
    textSha256: z.string().length(64),
  }),
  inProgress: `${problems}/request-in-progress`,
  exists: null,
  keyReused: `${problems}/idempotency-key-reused`,
  refused: `${problems}/refused`,
  definitiveRefusals: ["recipient-refused", "sender-blocked"],
};

/** The same words to the same person under the same reference. */
export function sameMessage(request: MailMessage, receipt: MailReceipt): boolean {
  return (
    receipt.reference === request.reference &&
    receipt.to === request.to &&
    receipt.subject === request.subject &&
    receipt.textSha256 === createHash("sha256").update(request.text, "utf8").digest("hex")
  );
}
