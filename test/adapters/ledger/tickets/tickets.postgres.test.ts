import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";

import { listOpenTickets } from "../../../../adapters/ledger/tickets/list-open-tickets.js";
import { readTicket } from "../../../../adapters/ledger/tickets/read-ticket.js";
import { vote } from "../../../../adapters/ledger/tickets/vote.js";
import { ledgerDatabase, shiftLedgerClock } from "../../../support/database.js";
import { ballot, castVote, messageKeysOf, open, resolve } from "./ticket-fixture.js";

const database = ledgerDatabase();
const hourMs = 3_600_000;

beforeEach(() => shiftLedgerClock(database.ledger, 0));

test("opening writes one mail for each reader, and opening again writes none", async () => {
  const { ledger } = database;
  const mail = (to: string) => ({ to, subject: "Please review", text: "An invoice waits." });
  const notify = [mail("ann@example.com"), mail("bob@example.com"), mail("ann@example.com")];
  const deadlineAt = new Date(Date.now() + hourMs);
  expect(await open(ledger, "t-open", { notify, deadlineAt })).toEqual({
    outcome: "opened",
    state: "open",
    deadlineAt,
  });
  const later = new Date(deadlineAt.getTime() + hourMs);
  expect(
    await open(ledger, "t-open", { notify: [mail("cid@example.com")], deadlineAt: later }),
    "the first deadline stands",
  ).toEqual({ outcome: "existing", state: "open", deadlineAt });
  expect(await messageKeysOf(ledger, "t-open")).toEqual([
    "mail:t-open:ann@example.com",
    "mail:t-open:bob@example.com",
  ]);
});

test("a ticket's id can't come to stand for something else", async () => {
  const { ledger } = database;
  await open(ledger, "t-bound");
  expect(await open(ledger, "t-bound", { revision: 3 })).toEqual({
    outcome: "conflict",
    field: "revision",
    stored: 2,
    offered: 3,
  });
  expect(await open(ledger, "t-bound", { fingerprint: "other" })).toMatchObject({ field: "fingerprint" });
});

test("two approvers end it, each counted once, and the hint is written once", async () => {
  const { ledger } = database;
  await open(ledger, "t-two");
  const first = { answer: "counted", approvals: 1, approvalsNeeded: 2 };
  expect(await castVote(ledger, ballot("t-two", "d1"))).toEqual(first);
  expect(await castVote(ledger, ballot("t-two", "d1")), "the same id").toEqual(first);
  expect(await castVote(ledger, ballot("t-two", "d2")), "the same person").toEqual({
    answer: "already-voted",
    decisionId: "d1",
  });
  expect(await castVote(ledger, ballot("t-two", "d3", { decision: "reject" }))).toEqual({
    answer: "other-decision-stands",
    decisionId: "d1",
    decision: "approve",
  });
  expect(await messageKeysOf(ledger, "t-two")).toEqual([]);

  const decided = { answer: "decided", state: "approved" };
  expect(await castVote(ledger, ballot("t-two", "d4", { voter: "bob" }))).toEqual(decided);
  expect(await castVote(ledger, ballot("t-two", "d4", { voter: "bob" })), "its first answer").toEqual(
    decided,
  );
  expect(await castVote(ledger, ballot("t-two", "d1")), "also after the end").toEqual(first);
  expect(await castVote(ledger, ballot("t-two", "d5", { voter: "cid", decision: "reject" }))).toEqual({
    answer: "already-closed",
    state: "approved",
  });
  expect(await messageKeysOf(ledger, "t-two")).toEqual(["hint:t-two:closed"]);
  expect(await resolve(ledger, "t-two")).toMatchObject({
    outcome: "ended",
    state: "approved",
    revision: 2,
    fingerprint: "seen",
    votes: [
      { decisionId: "d1", voter: "ann", decision: "approve" },
      { decisionId: "d4", voter: "bob", decision: "approve" },
    ],
  });
});

test("refusals are named, keep their answer and change nothing", async () => {
  const { ledger } = database;
  await open(ledger, "t-refuse");
  const wrong = ballot("t-refuse", "d1", { revision: 1 });
  const answer = { answer: "wrong-revision", expected: 2, offered: 1 };
  expect(await castVote(ledger, wrong)).toEqual(answer);
  expect(await castVote(ledger, wrong)).toEqual(answer);
  expect(await castVote(ledger, ballot("t-refuse", "d2", { fingerprint: "x" }))).toMatchObject({
    answer: "wrong-fingerprint",
  });
  expect(await castVote(ledger, ballot("t-refuse", "d3", { voter: "submitter" }))).toEqual({
    answer: "not-allowed",
  });
  expect(
    await castVote(ledger, ballot("t-refuse", "d1", { voter: "bob", revision: 1 })),
    "another's decision under a known id",
  ).toEqual({ answer: "decision-id-reused", field: "voter" });
  expect(await castVote(ledger, ballot("nowhere", "d1"))).toEqual({ answer: "unknown-ticket" });
  expect(await readTicket(ledger, "t-refuse")).toMatchObject({ state: "open" });
  expect(await castVote(ledger, ballot("t-refuse", "d4")), "a refused voter may still vote").toMatchObject({
    answer: "counted",
  });
});

test("after the deadline a decision is answered expired, and that ends the ticket", async () => {
  const { ledger } = database;
  await open(ledger, "t-late", { approvalsNeeded: 1 });
  await shiftLedgerClock(ledger, hourMs + 1_000);
  expect(await castVote(ledger, ballot("t-late", "d1"))).toEqual({ answer: "expired" });
  expect(await readTicket(ledger, "t-late")).toMatchObject({ state: "expired" });
  expect(await messageKeysOf(ledger, "t-late")).toEqual(["hint:t-late:closed"]);
  await shiftLedgerClock(ledger, 0);
  expect(await castVote(ledger, ballot("t-late", "d2")), "a clock set back opens nothing").toEqual({
    answer: "expired",
  });
  expect(await resolve(ledger, "t-late")).toMatchObject({ state: "expired", votes: [] });
});

test("who waits for the lock until after the deadline is late", async () => {
  const { ledger } = database;
  await open(ledger, "t-wait", { approvalsNeeded: 1, deadlineAt: new Date(Date.now() + 700) });
  const holder = database.open("holder", { poolSize: 1 });
  const voter = database.open("waiting-voter", { poolSize: 1 });
  let answer: Promise<unknown> | undefined;
  await holder.transaction().execute(async (transaction) => {
    // Locked and not changed: the server then has no reason to compute the voter's row again.
    await sql`select from tickets where ticket_id = 't-wait' for update`.execute(transaction);
    answer = castVote(voter, ballot("t-wait", "d1"));
    await waitingForLock("waiting-voter");
    await sql`select pg_sleep(greatest(0, extract(epoch from deadline_at - ledger_now())))
                from tickets where ticket_id = 't-wait'`.execute(transaction);
  });
  expect(await answer).toEqual({ answer: "expired" });
});

test("resolve gives an end or how long to wait, and closes a ticket past its deadline", async () => {
  const { ledger } = database;
  await open(ledger, "t-resolve");
  const notYet = await resolve(ledger, "t-resolve");
  expect(notYet.outcome).toBe("not-yet");
  const { remainingMs } = notYet as { remainingMs: number };
  expect(remainingMs).toBeGreaterThan(hourMs - 60_000);
  expect(remainingMs).toBeLessThanOrEqual(hourMs);

  await shiftLedgerClock(ledger, remainingMs);
  const ended = { outcome: "ended", state: "expired", votes: [] };
  expect(await resolve(ledger, "t-resolve")).toMatchObject(ended);
  expect(await resolve(ledger, "t-resolve")).toMatchObject(ended);
  expect(await messageKeysOf(ledger, "t-resolve")).toEqual(["hint:t-resolve:closed"]);
  expect(await resolve(ledger, "nowhere")).toEqual({ outcome: "unknown-ticket" });
});

test("an approval before the deadline wins, although it is resolved after it", async () => {
  const { ledger } = database;
  await open(ledger, "t-wins", { approvalsNeeded: 1 });
  await castVote(ledger, ballot("t-wins", "d1"));
  await shiftLedgerClock(ledger, 2 * hourMs);
  expect(await resolve(ledger, "t-wins")).toMatchObject({ outcome: "ended", state: "approved" });
});

test("two voters released together close the ticket: one counts, the other decides", async () => {
  const holder = database.open("holder", { poolSize: 1 });
  const voters = ["ann", "bob"].map((voter) => ({ voter, pool: database.open(`voter-${voter}`) }));
  for (let round = 0; round < 10; round += 1) {
    const ticketId = `t-race-${round}`;
    await open(database.ledger, ticketId);
    let answers: Promise<{ answer: string }>[] = [];
    await holder.transaction().execute(async (transaction) => {
      await sql`select from tickets where ticket_id = ${ticketId} for update`.execute(transaction);
      answers = voters.map(({ voter, pool }) => castVote(pool, ballot(ticketId, `d-${voter}`, { voter })));
      await Promise.all(voters.map(({ voter }) => waitingForLock(`voter-${voter}`)));
    });
    const given = (await Promise.all(answers)).map((each) => each.answer).sort();
    expect(given).toEqual(["counted", "decided"]);
    expect(await readTicket(database.ledger, ticketId)).toMatchObject({ state: "approved" });
    expect(await messageKeysOf(database.ledger, ticketId)).toEqual([`hint:${ticketId}:closed`]);
  }
});

test("a vote and a resolve released together agree on one end", async () => {
  const { ledger } = database;
  const holder = database.open("holder", { poolSize: 1 });
  const other = database.open("other-side");
  await open(ledger, "t-agree", { approvalsNeeded: 1, deadlineAt: new Date(Date.now() - 1) });
  let both: [Promise<{ answer: string }>, Promise<{ outcome: string }>] | undefined;
  await holder.transaction().execute(async (transaction) => {
    await sql`select from tickets where ticket_id = 't-agree' for update`.execute(transaction);
    both = [castVote(other, ballot("t-agree", "d1")), resolve(other, "t-agree")];
    await waitingForLock("other-side", 2);
  });
  expect(await both![0]).toEqual({ answer: "expired" });
  expect(await both![1]).toMatchObject({ outcome: "ended", state: "expired" });
  expect(await messageKeysOf(ledger, "t-agree")).toEqual(["hint:t-agree:closed"]);
});

test("a session that ends before the commit leaves neither vote nor hint", async () => {
  const { ledger } = database;
  await open(ledger, "t-back", { approvalsNeeded: 1 });
  const killed = database.open("killed", { poolSize: 1 });
  const lost = killed.transaction().execute(async (transaction) => {
    await vote(transaction, ballot("t-back", "d1"));
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(transaction);
  });
  await expect(lost).rejects.toThrow(/terminat/);
  expect(await readTicket(ledger, "t-back")).toMatchObject({ state: "open" });
  expect(await messageKeysOf(ledger, "t-back")).toEqual([]);
  expect(await castVote(ledger, ballot("t-back", "d1"))).toEqual({ answer: "decided", state: "approved" });
});

test("the database refuses to change what was opened, voted or ended", async () => {
  const { ledger } = database;
  await open(ledger, "t-kept", { approvalsNeeded: 1 });
  await expect(
    sql`update tickets set deadline_at = deadline_at + interval '1 day'`.execute(ledger),
  ).rejects.toThrow("never changed");
  await castVote(ledger, ballot("t-kept", "d1"));
  for (const change of [
    "update tickets set state = 'open', closed_at = null where ticket_id = 't-kept'",
    "delete from tickets where ticket_id = 't-kept'",
    "update ticket_votes set voter = 'eve' where ticket_id = 't-kept'",
    "delete from ticket_votes where ticket_id = 't-kept'",
    "truncate ticket_votes",
  ]) {
    await expect(sql.raw(change).execute(ledger), change).rejects.toThrow("refused");
  }
});

test("open tickets are listed by deadline, and overdue ones are found", async () => {
  const { ledger } = database;
  const at = (ms: number) => ({ tenant: "listed", deadlineAt: new Date(Date.now() + ms) });
  await open(ledger, "t-list-2", at(2 * hourMs));
  await open(ledger, "t-list-1", at(hourMs));
  const ids = async (query: { tenant?: string; overdueMs?: number }) =>
    (await listOpenTickets(ledger, { ...query, limit: 100 })).map((each) => each.ticket_id);
  expect(await ids({ tenant: "listed" })).toEqual(["t-list-1", "t-list-2"]);
  expect(await ids({ tenant: "listed", overdueMs: 0 })).toEqual([]);
  await shiftLedgerClock(ledger, hourMs + 60_000);
  expect(await ids({ tenant: "listed", overdueMs: 1_000 })).toEqual(["t-list-1"]);
});

/** Until this many sessions of an application wait for a lock, seen on the server. */
async function waitingForLock(applicationName: string, sessions = 1): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ waiting: number }>`
      select count(*) as waiting from pg_stat_activity
       where datname = current_database() and application_name = ${applicationName}
         and wait_event_type = 'Lock'`.execute(database.ledger);
    if ((rows[0]?.waiting ?? 0) >= sessions) {
      return;
    }
  }
}
