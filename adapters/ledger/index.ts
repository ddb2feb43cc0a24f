/**
 * The ledger: what a process knows of its own work beyond Temporal's history, in Postgres.
 *
 * Each verb is one function in one file. Those that decide something take a `LedgerTransaction`, because what they
 * write belongs together with what their caller writes; none of them calls anything outside the database.
 */
export * from "./database.js";
export * from "./ledger-errors.js";
export { checkSchema, migrate, type MigrateOptions, type MigrateResult } from "./migrate.js";
export { dumpSchema } from "./dump-schema.js";
export { migrations, type Migration } from "./migrations/index.js";
export * from "./retryable.js";
export { digestOf, NotStorable, storableJson } from "./json.js";
export type { Lease, LeaseResult } from "./lease.js";

export { createOperationJournal } from "./operations/journal.js";
export { listEvents } from "./operations/list-events.js";
export { listRecovery, readRecovery } from "./operations/list-recovery.js";
export { activate } from "./generations/activate.js";
export { ensureGeneration, type Generation } from "./generations/ensure.js";
export { fence, renew, type FenceResult, type OpenSubmission } from "./generations/fence.js";

export { getPayload, DamagedPayload, UnknownPayload } from "./payloads/get-payload.js";
export { payloadBytesMax, PayloadTooLarge, putPayload } from "./payloads/put-payload.js";
export { createPayloadStore } from "./payloads/payload-store.js";

export { admit, type Admission, type AdmitResult } from "./requests/admit.js";
export { changeRequestState, type ChangeStateResult } from "./requests/change-state.js";
export { countOpen } from "./requests/count-open.js";
export { listStuckRequests, type StuckRequest } from "./requests/list-stuck.js";
export { readRequest } from "./requests/read-request.js";
export type { RequestState, RequestTable } from "./requests/tables.js";

export * from "./outbox/message.js";
export { claimOutbox, type ClaimedMessage, type OutboxClaim } from "./outbox/claim.js";
export type { Claimed, Delivery, Sender, WorkflowMessageKind } from "./outbox/delivery.js";
export { enqueue } from "./outbox/enqueue.js";
export { markFailed } from "./outbox/mark-failed.js";
export { markSent } from "./outbox/mark-sent.js";
export { releaseOutbox } from "./outbox/release.js";
export type { OutboxState, OutboxTable } from "./outbox/tables.js";

export { claimInbox, type ClaimedEvent } from "./inbox/claim.js";
export { receive, type IncomingEvent, type ReceiveResult } from "./inbox/receive.js";
export { releaseEvent } from "./inbox/release.js";
export { settleEvent } from "./inbox/settle.js";
export type { InboxState, InboxTable } from "./inbox/tables.js";

export { ticketHintSignal, type TicketHint } from "./tickets/close-ticket.js";
export { countedVotes } from "./tickets/counted-votes.js";
export type { CountedVote, Vote, VoteAnswer } from "./tickets/judge-vote.js";
export { listOpenTickets, type OpenTicketQuery } from "./tickets/list-open-tickets.js";
export { openTicket, type OpenResult, type TicketOpening } from "./tickets/open-ticket.js";
export { readTicket } from "./tickets/read-ticket.js";
export { readVote, type StoredVote } from "./tickets/read-vote.js";
export { resolveTicket, type ResolveResult, type TicketEnd } from "./tickets/resolve-ticket.js";
export type { Decision, TicketState, TicketTable } from "./tickets/tables.js";
export { vote, type VoteResult } from "./tickets/vote.js";
export { withdrawTicket, type WithdrawResult } from "./tickets/withdraw-ticket.js";

export {
  answerRecovery,
  operationHintSignal,
  type RecoveryAnswer,
  type RecoveryAnswerResult,
} from "./recovery/answer-recovery.js";
export { listQuestions, type OpenQuestion } from "./recovery/list-questions.js";
export { listWaiting, type Waiting } from "./recovery/list-waiting.js";
export { possibleAnswers, type OperatorAnswer, type PossibleAnswers } from "./recovery/possible-answers.js";
