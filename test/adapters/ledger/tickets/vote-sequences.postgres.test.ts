import fc from "fast-check";
import { expect, test } from "vitest";

import { storableJson } from "../../../../adapters/ledger/json.js";
import type { Decision } from "../../../../adapters/ledger/tickets/tables.js";
import { readTicket } from "../../../../adapters/ledger/tickets/read-ticket.js";
import { ledgerDatabase, shiftLedgerClock } from "../../../support/database.js";
import { ballot, castVote, messageKeysOf, open, resolve } from "./ticket-fixture.js";

const database = ledgerDatabase();
const hourMs = 3_600_000;

type Step =
  | {
      readonly act: "vote";
      readonly id: string;
      readonly voter: string;
      readonly decision: Decision;
      readonly stale: boolean;
    }
  | { readonly act: "resolve" }
  | { readonly act: "deadline" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      act: fc.constant("vote" as const),
      id: fc.constantFrom("d1", "d2", "d3", "d4"),
      voter: fc.constantFrom("ann", "bob", "cid", "submitter"),
      decision: fc.constantFrom("approve" as const, "approve" as const, "reject" as const),
      stale: fc.integer({ min: 0, max: 5 }).map((drawn) => drawn === 0),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ act: "resolve" as const }) },
  { weight: 1, arbitrary: fc.constant({ act: "deadline" as const }) },
);

/**
 * The rules in the smallest words: who approved, how it ended. Written without the ledger's code, and saying less:
 * it knows nothing of answers, only of what may count.
 */
class Model {
  state: "open" | "approved" | "rejected" | "expired" = "open";
  readonly voters = new Map<string, Decision>();
  readonly seen = new Set<string>();
  late = false;

  constructor(readonly needed: number) {}

  apply(given: Step): void {
    if (given.act === "deadline") {
      this.late = true;
      return;
    }
    if (given.act === "resolve") {
      this.expire();
      return;
    }
    if (this.seen.has(given.id)) {
      return;
    }
    this.seen.add(given.id);
    this.expire();
    if (
      this.state === "open" &&
      !given.stale &&
      given.voter !== "submitter" &&
      !this.voters.has(given.voter)
    ) {
      this.voters.set(given.voter, given.decision);
      if (given.decision === "reject") {
        this.state = "rejected";
      } else if (this.voters.size >= this.needed) {
        this.state = "approved";
      }
    }
  }

  private expire(): void {
    if (this.late && this.state === "open") {
      this.state = "expired";
    }
  }
}

let tickets = 0;

test("any sequence of votes ends as a small model says", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 12 }),
      async (needed, steps) => {
        const { ledger } = database;
        const ticketId = `sequence-${(tickets += 1)}`;
        const model = new Model(needed);
        const firstAnswers = new Map<string, FirstAnswer>();
        await shiftLedgerClock(ledger, 0);
        await open(ledger, ticketId, { approvalsNeeded: needed });
        for (const each of steps) {
          model.apply(each);
          expect(await take(ticketId, each, model, firstAnswers)).toEqual({ answered: "as it must" });
          const ticket = await readTicket(ledger, ticketId);
          expect(ticket?.state).toBe(model.state);
          const hints = model.state === "open" ? [] : [`hint:${ticketId}:closed`];
          expect(await messageKeysOf(ledger, ticketId)).toEqual(hints);
        }
      },
    ),
    { numRuns: 100 },
  );
});

interface FirstAnswer {
  readonly asked: string;
  readonly answer: string;
}

/** Takes one step on the ledger, and says what was wrong with its answer, if anything was. */
async function take(
  ticketId: string,
  given: Step,
  model: Model,
  firstAnswers: Map<string, FirstAnswer>,
): Promise<{ answered: string; expected?: unknown }> {
  const asItMust = (answered: string, expected: string) =>
    answered === expected ? { answered: "as it must" } : { answered, expected };
  const { ledger } = database;
  if (given.act === "deadline") {
    await shiftLedgerClock(ledger, hourMs + 1_000);
    return { answered: "as it must" };
  }
  if (given.act === "resolve") {
    const { outcome } = await resolve(ledger, ticketId);
    return asItMust(outcome, model.state === "open" ? "not-yet" : "ended");
  }
  const { id, voter, decision } = given;
  const cast = ballot(ticketId, id, { voter, decision, revision: given.stale ? 1 : 2 });
  const asked = JSON.stringify(cast);
  const answered = await castVote(ledger, cast);
  const first = firstAnswers.get(id);
  if (first === undefined) {
    firstAnswers.set(id, { asked, answer: storableJson("answer", answered) });
    return { answered: "as it must" };
  }
  return first.asked === asked
    ? asItMust(storableJson("answer", answered), first.answer)
    : asItMust(answered.answer, "decision-id-reused");
}
