import type { LedgerTransaction } from "../database.js";
import { enqueue } from "../outbox/enqueue.js";
import type { TicketState } from "./tables.js";

export interface TicketOpening {
  readonly ticketId: string;
  readonly kind: string;
  readonly tenant: string;
  readonly subject: string;
  readonly revision: number;
  readonly fingerprint: string;
  readonly payloadDigest: string;
  readonly workflowId: string;
  readonly approvalsNeeded: number;
  /** Default: nobody. */
  readonly excludedVoters?: readonly string[];
  readonly deadlineAt: Date;
  /** One mail for each; the same reader twice gets one. */
  readonly notify: readonly { readonly to: string; readonly subject: string; readonly text: string }[];
}

export type OpenResult =
  | {
      /** `existing`: opened before, for the same content. Its deadline and its state stand, whatever was asked now. */
      readonly outcome: "opened" | "existing";
      readonly state: TicketState;
      readonly deadlineAt: Date;
    }
  /** The id stands for something else to be decided; nothing was written. */
  | {
      readonly outcome: "conflict";
      readonly field: string;
      readonly stored: string | number;
      readonly offered: string | number;
    };

/**
 * Opens a ticket once, and writes the mails that tell of it in the same transaction: a ticket that nobody hears of,
 * or a mail about a ticket that isn't there, can't be.
 *
 * ```sql
 * insert into tickets (…) values (…) on conflict (ticket_id) do nothing returning ticket_id;
 * insert into outbox … 'mail:<ticket>:<reader>' …;          -- one for each reader, when the ticket is new
 * select … from tickets where ticket_id = $1;               -- when it isn't
 * ```
 *
 * What is decided on is compared with a ticket that is there. The deadline isn't: after a reset a workflow asks
 * for a later one, and a decision's time must not grow by that.
 */
export async function openTicket(
  transaction: LedgerTransaction,
  opening: TicketOpening,
): Promise<OpenResult> {
  const opened = await transaction
    .insertInto("tickets")
    .values({
      ...bindingOf(opening),
      ticket_id: opening.ticketId,
      approvals_needed: opening.approvalsNeeded,
      excluded_voters: opening.excludedVoters ?? [],
      deadline_at: opening.deadlineAt,
    })
    .onConflict((conflict) => conflict.column("ticket_id").doNothing())
    .returning(["state", "deadline_at"])
    .executeTakeFirst();
  if (opened === undefined) {
    return compareWithStored(transaction, opening);
  }
  for (const mail of opening.notify) {
    await enqueue(transaction, `mail:${opening.ticketId}:${mail.to}`, { kind: "mail", ...mail });
  }
  return { outcome: "opened", state: opened.state, deadlineAt: opened.deadline_at };
}

/** What a ticket is about; the same in every opening of it. */
function bindingOf(opening: TicketOpening) {
  return {
    kind: opening.kind,
    tenant: opening.tenant,
    subject: opening.subject,
    revision: opening.revision,
    fingerprint: opening.fingerprint,
    payload_digest: opening.payloadDigest,
    workflow_id: opening.workflowId,
  };
}

async function compareWithStored(
  transaction: LedgerTransaction,
  opening: TicketOpening,
): Promise<OpenResult> {
  const stored = await transaction
    .selectFrom("tickets")
    .selectAll()
    .where("ticket_id", "=", opening.ticketId)
    .executeTakeFirstOrThrow();
  const binding = bindingOf(opening);
  const field = (Object.keys(binding) as (keyof typeof binding)[]).find(
    (name) => stored[name] !== binding[name],
  );
  return field === undefined
    ? { outcome: "existing", state: stored.state, deadlineAt: stored.deadline_at }
    : { outcome: "conflict", field, stored: stored[field], offered: binding[field] };
}
