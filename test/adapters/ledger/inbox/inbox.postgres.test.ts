import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";

import type { Ledger } from "../../../../adapters/ledger/database.js";
import { claimInbox } from "../../../../adapters/ledger/inbox/claim.js";
import { receive, type IncomingEvent } from "../../../../adapters/ledger/inbox/receive.js";
import { releaseEvent } from "../../../../adapters/ledger/inbox/release.js";
import { settleEvent } from "../../../../adapters/ledger/inbox/settle.js";
import { ledgerDatabase, shiftLedgerClock } from "../../../support/database.js";

const database = ledgerDatabase();

const event = (eventId: string, change: Partial<IncomingEvent> = {}): IncomingEvent => ({
  source: "cms",
  eventId,
  subject: "article:1",
  body: { revision: 3, generation: "g1" },
  ...change,
});
const claim = (owner: string, limit = 10, ledger: Ledger = database.ledger) =>
  claimInbox(ledger, { owner, source: "cms", leaseMs: 60_000, limit });

beforeEach(async () => {
  await shiftLedgerClock(database.ledger, 0);
  await sql`truncate inbox`.execute(database.ledger);
});

test("an event is new once; a repetition is the same; another body is a conflict and changes nothing", async () => {
  const { ledger } = database;
  const first = await receive(ledger, event("e1"));
  expect(first.outcome).toBe("new");
  const reordered = event("e1", { body: { generation: "g1", revision: 3 } });
  expect(await receive(ledger, reordered)).toEqual({ ...first, outcome: "same" });

  const conflict = await receive(ledger, event("e1", { body: { revision: 4, generation: "g1" } }));
  expect(conflict).toMatchObject({ outcome: "conflict" });
  const digests = conflict as { storedDigest: string; offeredDigest: string };
  expect(digests.storedDigest).not.toBe(digests.offeredDigest);
  const row = await ledger.selectFrom("inbox").select("body").executeTakeFirstOrThrow();
  expect(row.body).toEqual({ revision: 3, generation: "g1" });

  expect(await receive(ledger, event("e1", { source: "payments" }))).toMatchObject({ outcome: "new" });
});

test("of twenty deliveries at once one is new", async () => {
  const pool = database.open("webhooks", { poolSize: 20 });
  const results = await Promise.all(Array.from({ length: 20 }, () => receive(pool, event("twenty"))));
  expect(results.filter((result) => result.outcome === "new")).toHaveLength(1);
  expect(results.filter((result) => result.outcome === "same")).toHaveLength(19);
});

test("an event is claimed until its consequence is confirmed", async () => {
  const { ledger } = database;
  await receive(ledger, event("e1"));
  const [claimed] = await claim("one");
  expect(claimed).toMatchObject({ eventId: "e1", subject: "article:1", owner: "one", claim: 1 });
  expect(await claim("two")).toEqual([]);

  expect(await releaseEvent(ledger, { ...claimed!, retryAfterMs: 5_000 })).toBe("done");
  expect(await claim("two"), "not before its time").toEqual([]);
  await shiftLedgerClock(ledger, 5_001);
  const [again] = await claim("two");
  expect(again).toMatchObject({ owner: "two", claim: 2 });

  expect(await settleEvent(ledger, { ...claimed!, as: "done", consequence: {} })).toBe("stale");
  const consequence = { appliedRevision: 3 };
  expect(await settleEvent(ledger, { ...again!, as: "done", consequence })).toBe("done");
  expect(await claim("one")).toEqual([]);
  expect(await receive(ledger, event("e1"))).toMatchObject({ outcome: "same" });
});

test("a claim that isn't committed yet is neither waited for nor made twice", async () => {
  await receive(database.ledger, event("e1"));
  await receive(database.ledger, event("e2"));
  const impatient = database.open("impatient", { timeouts: { lockMs: 200 } });
  const ids = (claimed: readonly { readonly eventId: string }[]) => claimed.map((each) => each.eventId);
  await database.ledger.transaction().execute(async (transaction) => {
    expect(ids(await claim("one", 1, transaction))).toEqual(["e1"]);
    expect(ids(await claim("two", 10, impatient))).toEqual(["e2"]);
  });
  expect(await claim("two", 10, impatient)).toEqual([]);
});

test("a lease that ran out is claimed anew and the late owner changes nothing", async () => {
  const { ledger } = database;
  await receive(ledger, event("e1"));
  const [early] = await claim("one");
  await shiftLedgerClock(ledger, 60_001);
  const [late] = await claim("one");
  expect(late?.claim).toBe(2);
  expect(await releaseEvent(ledger, { ...early!, retryAfterMs: 0 })).toBe("stale");
  expect(
    await settleEvent(ledger, { ...late!, as: "ignored", consequence: { reason: "unknown article" } }),
  ).toBe("done");
});

test("what was received and how it ended can't be changed", async () => {
  const { ledger } = database;
  await receive(ledger, event("e1"));
  await expect(sql`update inbox set body = '{}'`.execute(ledger)).rejects.toThrow("never changed");
  const [claimed] = await claim("one");
  await settleEvent(ledger, { ...claimed!, as: "done", consequence: {} });
  await expect(sql`update inbox set state = 'received', settled_at = null`.execute(ledger)).rejects.toThrow(
    "this row is settled as done",
  );
});
