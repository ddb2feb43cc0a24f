/** Reviews: what waits for a person, and the decision on it. */
import { z } from "zod";
import type { Ledger } from "../../../adapters/ledger/database.js";
import { invoiceReviewKind } from "../../../adapters/ledger/invoices/reviews.js";
import { getPayload } from "../../../adapters/ledger/payloads/get-payload.js";
import { withRetry } from "../../../adapters/ledger/retryable.js";
import { countedVotes } from "../../../adapters/ledger/tickets/counted-votes.js";
import { listOpenTickets } from "../../../adapters/ledger/tickets/list-open-tickets.js";
import { readTicket } from "../../../adapters/ledger/tickets/read-ticket.js";
import { vote } from "../../../adapters/ledger/tickets/vote.js";
import { transactionTriesMax } from "../admit-batch.js";
import type { Api, ApiDependencies } from "../app.js";
import { callerOf, requireOwnTenant } from "../authorisation.js";
import type { Caller } from "../callers.js";
import { ApiProblem, problemResponses } from "../problems.js";
import { answerToVote, decisionAnswerSchema } from "../vote-answer.js";
import { revisionSchema } from "./invoice-batches.js";

const reviewIdPattern = /^[A-Za-z0-9._~@+=:-]{1,400}$/;
const params = z.object({ reviewId: z.string() });

const reviewSchema = z.object({
  reviewId: z.string(),
  subject: z.string().meta({ description: "The processing that waits: `<batch id>:<invoice key>`." }),
  state: z.enum(["open", "approved", "rejected", "expired", "withdrawn"]),
  revision: z.number(),
  fingerprint: z
    .string()
    .meta({ description: "Of the amount and content that is decided on; send it back." }),
  approvalsNeeded: z.number(),
  deadlineAt: z.iso.datetime(),
  openedAt: z.iso.datetime(),
});

const reviewDetailSchema = reviewSchema.extend({
  content: z.unknown().meta({ description: "What will be posted, exactly, when it is approved." }),
  decisions: z.array(z.object({ caller: z.string(), decision: z.enum(["approve", "reject"]) })),
});

/** More than a person looks at, and a page that neither side notices. */
const pageMax = 100;

const limitText = `must be a whole number from 1 to ${pageMax}`;
const afterText = "must be the id of a review";
const pageSchema = z.strictObject({
  limit: z.coerce
    .number(limitText)
    .int(limitText)
    .min(1, limitText)
    .max(pageMax, limitText)
    .default(pageMax)
    .meta({ description: "Most reviews in the answer." }),
  after: z
    .string(afterText)
    .regex(reviewIdPattern, afterText)
    .optional()
    .meta({ description: "`next` of the page before." }),
});

const idText = "must be 1 to 100 of letters, digits and . _ ~ @ + = : -";
const digestText = "must be 64 lower-case hex digits, as the review shows them";
const decisionSchema = z.strictObject({
  decisionId: z
    .string(idText)
    .regex(/^[A-Za-z0-9._~@+=:-]{1,100}$/, idText)
    .meta({ description: "Made by the one who decides: sent again, it gets its first answer." }),
  decision: z.enum(["approve", "reject"], "must be approve or reject"),
  revision: revisionSchema,
  fingerprint: z.string(digestText).regex(/^[0-9a-f]{64}$/, digestText),
});

const security = [{ apiKey: [] }];
const seeing = ["reviewer", "operator"] as const;

export function registerReviews(app: Pick<Api, "route">, dependencies: ApiDependencies): void {
  registerLooking(app, dependencies);
  registerDeciding(app, dependencies);
}

function registerLooking(app: Pick<Api, "route">, { ledger }: ApiDependencies): void {
  app.route({
    method: "GET",
    url: "/api/reviews",
    config: { roles: seeing },
    schema: {
      summary: "The tenant's open reviews, the most urgent first, page by page.",
      security,
      querystring: pageSchema,
      response: {
        200: z.object({
          reviews: z.array(reviewSchema),
          next: z.string().nullable().meta({ description: "Send as `after` for the next page; null: none." }),
        }),
        ...problemResponses(
          "InvalidRequest",
          "Unauthenticated",
          "NotAllowed",
          "UnknownReview",
          "LedgerUnavailable",
        ),
      },
    },
    handler: async (request) => {
      const caller = callerOf(request);
      const { limit, after } = request.query;
      if (after !== undefined) await requireReview(ledger, caller, after);
      const tickets = await listOpenTickets(ledger, {
        tenant: caller.tenant,
        kind: invoiceReviewKind,
        // One more than is shown says whether there is a next page.
        limit: limit + 1,
        ...(after === undefined ? {} : { afterTicketId: after }),
      });
      const reviews = tickets.slice(0, limit).map(shown);
      return { reviews, next: tickets.length > limit ? (reviews.at(-1)?.reviewId ?? null) : null };
    },
  });

  app.route({
    method: "GET",
    url: "/api/reviews/:reviewId",
    config: { roles: seeing },
    schema: {
      summary: "One review with the content that is decided on.",
      security,
      params,
      response: {
        200: reviewDetailSchema,
        ...problemResponses("Unauthenticated", "NotAllowed", "UnknownReview", "LedgerUnavailable"),
      },
    },
    handler: async (request) => {
      const ticket = await requireReview(ledger, callerOf(request), request.params.reviewId);
      const votes = await countedVotes(ledger, ticket.ticket_id);
      return {
        ...shown(ticket),
        content: await getPayload(ledger, ticket.payload_digest),
        decisions: votes.map(({ voter, decision }) => ({ caller: voter, decision })),
      };
    },
  });
}

function registerDeciding(app: Pick<Api, "route">, { ledger }: ApiDependencies): void {
  app.route({
    method: "POST",
    url: "/api/reviews/:reviewId/decisions",
    config: { roles: ["reviewer"] },
    schema: {
      summary: "Decide. The decision stands before anybody is told of it.",
      security,
      params,
      body: decisionSchema,
      response: {
        200: decisionAnswerSchema,
        ...problemResponses(
          "InvalidRequest",
          "Unauthenticated",
          "NotAllowed",
          "UnknownReview",
          "ReviewExpired",
          "ReviewClosed",
          "ReviewMismatch",
          "AlreadyDecided",
          "DecisionIdReused",
          "BodyTooLarge",
          "UnsupportedMediaType",
          "LedgerUnavailable",
        ),
      },
    },
    handler: async (request) => {
      const caller = callerOf(request);
      const { ticket_id: ticketId } = await requireReview(ledger, caller, request.params.reviewId);
      const cast = { ...request.body, ticketId, voter: caller.id };
      // Vote and hint are one transaction; a repeated one gets the decision's first answer.
      const once = () => ledger.transaction().execute((transaction) => vote(transaction, cast));
      const result = await withRetry(once, { readBack: "repeatable", attemptsMax: transactionTriesMax });
      return answerToVote(ticketId, cast, result);
    },
  });
}

/**
 * Ticket and tenant never change, so what is read here without a lock still holds when the vote is taken.
 *
 * @throws ApiProblem `UnknownReview`, `NotAllowed`
 */
async function requireReview(ledger: Ledger, caller: Caller, reviewId: string) {
  const ticket = reviewIdPattern.test(reviewId) ? await readTicket(ledger, reviewId) : undefined;
  if (ticket === undefined || ticket.kind !== invoiceReviewKind) {
    throw new ApiProblem("UnknownReview", `there is no review ${JSON.stringify(reviewId)}`);
  }
  requireOwnTenant(caller, reviewId, ticket.tenant);
  return ticket;
}

function shown(ticket: NonNullable<Awaited<ReturnType<typeof readTicket>>>) {
  return {
    reviewId: ticket.ticket_id,
    subject: ticket.subject,
    state: ticket.state,
    revision: ticket.revision,
    fingerprint: ticket.fingerprint,
    approvalsNeeded: ticket.approvals_needed,
    deadlineAt: ticket.deadline_at.toISOString(),
    openedAt: ticket.opened_at.toISOString(),
  };
}
