/** What must hold of every invoice whatever happened on the way, by accounting's own journal and the ledger. */
import type { ExtractedInvoice } from "../../activities/invoice-approval/invoice-document/invoice.js";
import type { InvoicePosting } from "../../activities/ports.js";
import { getPayload } from "../../adapters/ledger/payloads/get-payload.js";
import type { InvariantResult } from "../../crash-lab/judge/evidence.js";
import { messageOf } from "../../platform/index.js";
import type { JournalEntry } from "../world/journal.js";
import type { InvoiceEnvironment } from "./environment.js";

/** @returns each invariant of the invoice process, with what was found */
export async function invoiceInvariants(
  { world, ledger }: Pick<InvoiceEnvironment, "world" | "ledger">,
  token: string,
): Promise<readonly InvariantResult[]> {
  const entries = await world.journal.read({ run: token, system: "accounting" });
  const postings = entries.filter(
    // One that a clerk entered by hand is a posting too: what counts is what is in the books.
    ({ kind, operation }) => kind === "committed" && (operation === "post" || operation === "manual"),
  );
  return [
    onePostingEach(postings),
    await postedWhatIsStored(postings, (digest) => getPayload(ledger, digest)),
  ];
}

/** At most one posting for each invoice, by a client or by hand. */
export function onePostingEach(postings: readonly JournalEntry[]): InvariantResult {
  const keys = new Set(postings.map(({ key }) => key));
  return {
    name: "at most one posting for each invoice",
    holds: postings.length === keys.size,
    detail: `${postings.length} postings for ${keys.size} invoices`,
  };
}

/** The digest that was posted is the stored invoice's, and amount, currency and number are that invoice's. */
export async function postedWhatIsStored(
  postings: readonly JournalEntry[],
  stored: (digest: string) => Promise<unknown>,
): Promise<InvariantResult> {
  const differences: string[] = [];
  for (const { key, operation, content } of postings) {
    // The clerk has the paper, not our store.
    if (operation === "manual") continue;
    const posting = content as InvoicePosting;
    const invoice = await stored(posting.payloadDigest).then(
      (value) => value as ExtractedInvoice,
      (error: unknown) => messageOf(error),
    );
    if (typeof invoice === "string") differences.push(`${key}: ${invoice}`);
    else if (
      invoice.totals.grossMinor !== posting.amountMinor ||
      invoice.currency !== posting.currency ||
      invoice.number !== posting.invoiceNumber
    )
      differences.push(
        `${key}: posted ${posting.invoiceNumber} over ${posting.amountMinor} ${posting.currency}, stored ${invoice.number} over ${invoice.totals.grossMinor} ${invoice.currency}`,
      );
  }
  return {
    name: "what was posted is the stored invoice",
    holds: differences.length === 0,
    detail: differences.join("; ") || `${postings.length} compared`,
  };
}
