import type { Ledger } from "../../../../adapters/ledger/database.js";
import { putPayload } from "../../../../adapters/ledger/payloads/put-payload.js";
import type { Vote } from "../../../../adapters/ledger/tickets/judge-vote.js";
import {
  openTicket,
  type OpenResult,
  type TicketOpening,
} from "../../../../adapters/ledger/tickets/open-ticket.js";
import { resolveTicket, type ResolveResult } from "../../../../adapters/ledger/tickets/resolve-ticket.js";
import { vote, type VoteResult } from "../../../../adapters/ledger/tickets/vote.js";

/** Opens a ticket as the invoice review does, with a deadline in an hour unless said otherwise. */
export async function open(
  ledger: Ledger,
  ticketId: string,
  change: Partial<TicketOpening> = {},
): Promise<OpenResult> {
  const payloadDigest = await putPayload(ledger, "extracted-invoice", { amountMinor: 119_000 });
  return ledger.transaction().execute((transaction) =>
    openTicket(transaction, {
      ticketId,
      kind: "review",
      tenant: "north",
      subject: `processing:${ticketId}`,
      revision: 2,
      fingerprint: "seen",
      payloadDigest,
      workflowId: `invoice:${ticketId}`,
      approvalsNeeded: 2,
      excludedVoters: ["submitter"],
      deadlineAt: new Date(Date.now() + 3_600_000),
      notify: [],
      ...change,
    }),
  );
}

export function ballot(ticketId: string, decisionId: string, change: Partial<Vote> = {}): Vote {
  return {
    ticketId,
    decisionId,
    voter: "ann",
    decision: "approve",
    revision: 2,
    fingerprint: "seen",
    ...change,
  };
}

export function castVote(ledger: Ledger, given: Vote): Promise<VoteResult> {
  return ledger.transaction().execute((transaction) => vote(transaction, given));
}

export function resolve(ledger: Ledger, ticketId: string): Promise<ResolveResult> {
  return ledger.transaction().execute((transaction) => resolveTicket(transaction, ticketId));
}

/** Keys of the outbox rows that a ticket wrote, in order. */
export async function messageKeysOf(ledger: Ledger, ticketId: string): Promise<readonly string[]> {
  const rows = await ledger
    .selectFrom("outbox")
    .select("message_key")
    .where((expression) =>
      expression.or([
        expression("message_key", "like", `mail:${ticketId}:%`),
        expression("message_key", "=", `hint:${ticketId}:closed`),
      ]),
    )
    .orderBy("id")
    .execute();
  return rows.map((row) => row.message_key);
}
