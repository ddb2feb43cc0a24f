import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { putPayload } from "../../../adapters/ledger/payloads/put-payload.js";
import { openTicket, type TicketOpening } from "../../../adapters/ledger/tickets/open-ticket.js";
import { readTicket } from "../../../adapters/ledger/tickets/read-ticket.js";
import { shiftLedgerClock } from "../../support/database.js";
import { answerOf, apiRig, as, problem, type Answer } from "./api-rig.js";

const rig = apiRig();
const fingerprint = "a".repeat(64);
const content = { number: "R-1", grossMinor: 119_000 };
let opened = 0;

/** Opens a review of its own, in which `sue` handed in the invoice. */
async function review(change: Partial<TicketOpening> = {}): Promise<string> {
  opened += 1;
  const ticketId = `review:batch-${opened}:invoice:1`;
  const payloadDigest = await putPayload(rig.database.ledger, "extracted-invoice", content);
  await rig.database.ledger.transaction().execute((transaction) =>
    openTicket(transaction, {
      ticketId,
      kind: "invoice-review",
      tenant: "north",
      subject: `batch-${opened}:invoice`,
      revision: 2,
      fingerprint,
      payloadDigest,
      workflowId: `invoice:${opened}`,
      approvalsNeeded: 1,
      excludedVoters: ["sue"],
      deadlineAt: new Date(Date.now() + 3_600_000),
      notify: [],
      ...change,
    }),
  );
  return ticketId;
}

/** The ledger's clock stands there until it is shifted anew. */
async function stopLedgerClock(at: Date): Promise<void> {
  await sql
    .raw(
      `create or replace function ledger_now() returns timestamptz language sql volatile
       as $$ select timestamptz '${at.toISOString()}' $$`,
    )
    .execute(rig.database.ledger);
}

const decision = (decisionId: string, change: object = {}) => ({
  decisionId,
  decision: "approve",
  revision: 2,
  fingerprint,
  ...change,
});

async function stateOf(reviewId: string) {
  return (await readTicket(rig.database.ledger, reviewId))?.state;
}

/** Holds the ticket's row until all of them wait for it, so that none has a start over the others. */
async function releasedTogether(
  reviewId: string,
  count: number,
  act: () => Promise<Answer>[],
): Promise<Answer[]> {
  let acting: Promise<Answer>[] = [];
  await rig.database.ledger.transaction().execute(async (holder) => {
    await sql`select 1 from tickets where ticket_id = ${reviewId} for update`.execute(holder);
    acting = act();
    for (let waiting = 0; waiting < count;) {
      const { rows } = await sql<{ waiting: number }>`
        select count(*) as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`.execute(rig.database.ledger);
      waiting = rows[0]!.waiting;
    }
  });
  return Promise.all(acting);
}

async function hints(reviewId: string): Promise<number> {
  const rows = await rig.database.ledger
    .selectFrom("outbox")
    .select("id")
    .where("message_key", "=", `hint:${reviewId}:closed`)
    .execute();
  return rows.length;
}

test("an open review is listed for its tenant, and shown with what will be posted", async () => {
  const id = await review();
  const listed = await rig.get("ann", "/api/reviews");
  expect(listed.body["reviews"]).toContainEqual(
    expect.objectContaining({ reviewId: id, state: "open", revision: 2, fingerprint, approvalsNeeded: 1 }),
  );
  expect((await rig.get("rob", "/api/reviews")).body).toEqual({ reviews: [], next: null });
  expect(await rig.get("ops", `/api/reviews/${id}`)).toMatchObject({
    status: 200,
    body: { reviewId: id, content, decisions: [] },
  });
});

describe("the list", () => {
  interface Page {
    readonly reviews: readonly { readonly reviewId: string; readonly deadlineAt: string }[];
    readonly next: string | null;
  }
  const page = async (who: string, query: string) =>
    (await rig.get(who, `/api/reviews${query}`)).body as unknown as Page;

  test("isn't shortened by tickets of other kinds, however urgent", async () => {
    const id = await review({ tenant: "south" });
    const sooner = new Date(Date.now() + 1_800_000);
    for (let each = 0; each < 3; each += 1) {
      await review({ tenant: "south", kind: "remediation", deadlineAt: sooner });
    }
    const { reviews, next } = await page("rob", "?limit=1");
    expect([reviews.map(({ reviewId }) => reviewId), next]).toEqual([[id], null]);
  });

  test("comes in pages, the most urgent first, each review once, also when one was decided between", async () => {
    const now = Date.now();
    // Two have the same deadline.
    for (const minutes of [5, 3, 3, 4, 1]) await review({ deadlineAt: new Date(now + minutes * 60_000) });
    const whole = (await page("ann", "")).reviews;
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const part: Page = await page("ann", next === null ? "?limit=2" : `?limit=2&after=${next}`);
      seen.push(...part.reviews.map(({ reviewId }) => reviewId));
      next = part.next;
      if (seen.length === 2) await rig.decide("ann", seen[1]!, decision("between"));
    } while (next !== null);
    expect(seen).toEqual(whole.map(({ reviewId }) => reviewId));
    expect(whole.map(({ deadlineAt }) => deadlineAt)).toEqual(
      whole.map(({ deadlineAt }) => deadlineAt).toSorted(),
    );
  });

  test.each([
    ["?limit=0", "InvalidRequest", 400, /query\.limit is "0": must be a whole number from 1 to 100/],
    ["?limit=101", "InvalidRequest", 400, /from 1 to 100/],
    ["?limit=x", "InvalidRequest", 400, /from 1 to 100/],
    ["?after=", "InvalidRequest", 400, /must be the id of a review/],
    ["?after=%00", "InvalidRequest", 400, /must be the id of a review/],
    ["?tenant=south", "InvalidRequest", 400, /tenant/],
    ["?after=nobody", "UnknownReview", 404, /there is no review/],
  ])("%s is refused", async (query, name, status, detail) => {
    expect(await rig.get("ann", `/api/reviews${query}`)).toMatchObject(
      problem(name, status, { detail: expect.stringMatching(detail) as unknown }),
    );
  });

  test("behind another tenant's review is nothing to see", async () => {
    const foreign = await review({ tenant: "south" });
    expect(await rig.get("ann", `/api/reviews?after=${foreign}`)).toMatchObject(problem("NotAllowed", 403));
  });
});

test("an approval closes the review, and its hint is written with it", async () => {
  const id = await review();
  const before = await rig.countRows();
  expect(await rig.decide("ann", id, decision("d"))).toMatchObject({
    status: 200,
    body: { answer: "decided", state: "approved" },
  });
  expect([await stateOf(id), await hints(id)]).toEqual(["approved", 1]);
  expect(await rig.countRows()).toEqual({
    ...before,
    ticket_votes: before.ticket_votes + 1,
    outbox: before.outbox + 1,
  });
  expect((await rig.get("bob", `/api/reviews/${id}`)).body["decisions"]).toEqual([
    { caller: "ann", decision: "approve" },
  ]);
});

test("a double click gets the first answer, also after others have ended the review", async () => {
  const id = await review({ approvalsNeeded: 2 });
  const clicks = await Promise.all([1, 2, 3].map(() => rig.decide("ann", id, decision("d"))));
  for (const { body } of clicks)
    expect(body).toEqual({ answer: "counted", approvals: 1, approvalsNeeded: 2 });
  expect((await rig.decide("bob", id, decision("e"))).body).toEqual({ answer: "decided", state: "approved" });
  expect((await rig.decide("ann", id, decision("d"))).body).toEqual(clicks[0]?.body);
  expect(await hints(id)).toBe(1);
});

test("two approvers released together: both count, one of them ends it", async () => {
  const id = await review({ approvalsNeeded: 2 });
  const answers = await releasedTogether(id, 2, () => [
    rig.decide("ann", id, decision("a")),
    rig.decide("bob", id, decision("b")),
  ]);
  expect(answers.map(({ body }) => body["answer"]).sort()).toEqual(["counted", "decided"]);
  expect([await stateOf(id), await hints(id)]).toEqual(["approved", 1]);
});

test("one person released twice together, under two ids: one counts", async () => {
  const id = await review({ approvalsNeeded: 2 });
  const answers = await releasedTogether(id, 2, () => [
    rig.decide("ann", id, decision("a")),
    rig.decide("ann", id, decision("b")),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)).toMatchObject(problem("AlreadyDecided", 409));
  expect([await stateOf(id), await hints(id)]).toEqual(["open", 0]);
});

test("approval and rejection released together: one decides, the other is told how it ended", async () => {
  const id = await review();
  const answers = await releasedTogether(id, 2, () => [
    rig.decide("ann", id, decision("a")),
    rig.decide("bob", id, decision("b", { decision: "reject" })),
  ]);
  const state = await stateOf(id);
  expect(answers.find(({ status }) => status === 200)?.body).toEqual({ answer: "decided", state });
  expect(answers.find(({ status }) => status === 409)).toMatchObject(problem("ReviewClosed", 409, { state }));
  expect(await hints(id)).toBe(1);
});

test("a refused decision keeps its first answer", async () => {
  const id = await review();
  const wrong = decision("w", { revision: 1 });
  const first = await rig.decide("ann", id, wrong);
  await rig.decide("ann", id, decision("right"));
  expect(await rig.decide("ann", id, wrong)).toMatchObject({ status: first.status, body: first.body });
});

describe("a decision that doesn't count", () => {
  const cases: readonly [string, string, object, ReturnType<typeof problem>][] = [
    [
      "for another revision",
      "ann",
      { revision: 3 },
      problem("ReviewMismatch", 409, { field: "revision", expected: 2, offered: 3 }),
    ],
    [
      "for other content",
      "ann",
      { fingerprint: "b".repeat(64) },
      problem("ReviewMismatch", 409, { field: "fingerprint", expected: fingerprint }),
    ],
    ["by another tenant's reviewer", "rob", {}, problem("NotAllowed", 403)],
    ["by a submitter", "sam", {}, problem("NotAllowed", 403)],
    ["by an operator", "ops", {}, problem("NotAllowed", 403)],
    ["of an unknown kind", "ann", { decision: "maybe" }, problem("InvalidRequest", 400)],
    ["with a wrong fingerprint", "ann", { fingerprint: "b" }, problem("InvalidRequest", 400)],
    ["with a field of its own", "ann", { voter: "bob" }, problem("InvalidRequest", 400)],
  ];

  test.each(cases)("%s", async (_, who, change, expected) => {
    const id = await review();
    expect(await rig.decide(who, id, decision("d", change))).toMatchObject(expected);
    expect([await stateOf(id), await hints(id)]).toEqual(["open", 0]);
    // And it is in nobody's way.
    expect((await rig.decide("bob", id, decision("e"))).body["answer"]).toBe("decided");
  });

  test("by whoever handed the invoice in, though a reviewer", async () => {
    const id = await review({ excludedVoters: ["max"] });
    expect(await rig.decide("max", id, decision("d"))).toMatchObject(problem("NotAllowed", 403));
    expect([await stateOf(id), await hints(id)]).toEqual(["open", 0]);
  });

  test("without a key, or with a key of nobody", async () => {
    const id = await review();
    const before = await rig.countRows();
    for (const headers of [{}, { authorization: "Bearer nobody" }]) {
      const response = await rig.app.inject({
        method: "POST",
        url: `/api/reviews/${id}/decisions`,
        headers,
        payload: decision("d"),
      });
      expect(answerOf(response)).toMatchObject(problem("Unauthenticated", 401));
    }
    expect(await rig.countRows()).toEqual(before);
  });

  test("twice by one person, under two ids", async () => {
    const id = await review({ approvalsNeeded: 2 });
    await rig.decide("ann", id, decision("d"));
    expect(await rig.decide("ann", id, decision("e"))).toMatchObject(
      problem("AlreadyDecided", 409, { decisionId: "d" }),
    );
    expect(await rig.decide("ann", id, decision("f", { decision: "reject" }))).toMatchObject(
      problem("AlreadyDecided", 409, { decisionId: "d", decision: "approve" }),
    );
    expect(await stateOf(id)).toBe("open");
  });

  test("under an id that stands for another decision", async () => {
    const id = await review({ approvalsNeeded: 2 });
    await rig.decide("ann", id, decision("d"));
    const before = await rig.countRows();
    expect(await rig.decide("ann", id, decision("d", { decision: "reject" }))).toMatchObject(
      problem("DecisionIdReused", 409, { field: "decision" }),
    );
    expect(await rig.decide("bob", id, decision("d"))).toMatchObject(
      problem("DecisionIdReused", 409, { field: "voter" }),
    );
    expect(await rig.countRows()).toEqual(before);
  });

  test("after a rejection", async () => {
    const id = await review({ approvalsNeeded: 2 });
    const rejected = await rig.decide("ann", id, decision("d", { decision: "reject" }));
    expect(rejected.body).toEqual({ answer: "decided", state: "rejected" });
    expect(await rig.decide("bob", id, decision("e"))).toMatchObject(
      problem("ReviewClosed", 409, { state: "rejected" }),
    );
    expect([await stateOf(id), await hints(id)]).toEqual(["rejected", 1]);
  });
});

test("a millisecond before the deadline a decision counts, and at the deadline it is expired", async () => {
  const deadlineAt = new Date("2030-01-01T12:00:00.000Z");
  const [before, at] = [await review({ deadlineAt }), await review({ deadlineAt })];
  try {
    await stopLedgerClock(new Date(deadlineAt.getTime() - 1));
    expect((await rig.decide("ann", before, decision("d"))).body).toEqual({
      answer: "decided",
      state: "approved",
    });
    await stopLedgerClock(deadlineAt);
    expect(await rig.decide("ann", at, decision("d"))).toMatchObject(problem("ReviewExpired", 409));
    // What was decided in time keeps its answer.
    expect((await rig.decide("ann", before, decision("d"))).status).toBe(200);
    expect([await stateOf(before), await stateOf(at)]).toEqual(["approved", "expired"]);
  } finally {
    await shiftLedgerClock(rig.database.ledger, 0);
  }
});

test("after the deadline by the ledger's clock the answer is expired, and the workflow is told once", async () => {
  const id = await review({ deadlineAt: new Date(Date.now() + 60_000) });
  await shiftLedgerClock(rig.database.ledger, 61_000);
  try {
    expect(await rig.decide("ann", id, decision("d"))).toMatchObject(problem("ReviewExpired", 409));
    expect(await rig.decide("ann", id, decision("d"))).toMatchObject(problem("ReviewExpired", 409));
    expect(await rig.decide("bob", id, decision("e"))).toMatchObject(problem("ReviewExpired", 409));
    expect([await stateOf(id), await hints(id)]).toEqual(["expired", 1]);
  } finally {
    await shiftLedgerClock(rig.database.ledger, 0);
  }
});

test.each(["nothing", "%00", "review:x:y:1"])("the review %s is unknown", async (id) => {
  const decided = await rig.app.inject({
    method: "POST",
    url: `/api/reviews/${id}/decisions`,
    headers: as("ann"),
    payload: decision("d"),
  });
  expect(answerOf(decided)).toMatchObject(problem("UnknownReview", 404));
  expect(await rig.get("ann", `/api/reviews/${id}`)).toMatchObject(problem("UnknownReview", 404));
});

test("a ticket that is no review of an invoice isn't shown or decided here", async () => {
  const id = await review({ kind: "remediation" });
  expect(await rig.get("ann", `/api/reviews/${id}`)).toMatchObject(problem("UnknownReview", 404));
  expect(await rig.decide("ann", id, decision("d"))).toMatchObject(problem("UnknownReview", 404));
  expect(await stateOf(id)).toBe("open");
});
