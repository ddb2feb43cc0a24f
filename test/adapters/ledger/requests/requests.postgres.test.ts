import { sql } from "kysely";
import { expect, test } from "vitest";

import type { LedgerTransaction } from "../../../../adapters/ledger/database.js";
import { admit, type Admission } from "../../../../adapters/ledger/requests/admit.js";
import { changeRequestState } from "../../../../adapters/ledger/requests/change-state.js";
import { countOpen } from "../../../../adapters/ledger/requests/count-open.js";
import { listStuckRequests } from "../../../../adapters/ledger/requests/list-stuck.js";
import { readRequest } from "../../../../adapters/ledger/requests/read-request.js";
import { ledgerDatabase } from "../../../support/database.js";

const database = ledgerDatabase();

const admission = (requestId: string, change: Partial<Admission> = {}): Admission => ({
  requestId,
  caller: "api-client",
  idempotencyKey: requestId,
  kind: "invoice-batch",
  tenant: "north",
  workflowId: `batch:${requestId}`,
  body: { invoices: ["a", "b"] },
  ...change,
});

const inTransaction = <Result>(act: (transaction: LedgerTransaction) => Promise<Result>): Promise<Result> =>
  database.ledger.transaction().execute(act);

test("the same key and body give the same request; another body gives both fingerprints", async () => {
  const first = await inTransaction((transaction) => admit(transaction, admission("r1")));
  expect(first).toMatchObject({ outcome: "admitted", requestId: "r1" });

  const again = admission("r1-again", { idempotencyKey: "r1" });
  expect(await inTransaction((transaction) => admit(transaction, again))).toEqual({
    outcome: "existing",
    requestId: "r1",
    workflowId: "batch:r1",
    state: "admitted",
    fingerprint: first.outcome === "admitted" ? first.fingerprint : undefined,
  });

  const other = admission("r1-other", { idempotencyKey: "r1", body: { invoices: ["a"] } });
  const conflict = await inTransaction((transaction) => admit(transaction, other));
  expect(conflict).toMatchObject({ outcome: "conflict", requestId: "r1" });
  const { storedFingerprint, offeredFingerprint } = conflict as Record<string, string>;
  expect(storedFingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(offeredFingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(offeredFingerprint).not.toBe(storedFingerprint);

  const elsewhere = admission("r1-elsewhere", { idempotencyKey: "r1", caller: "another-client" });
  expect(await inTransaction((transaction) => admit(transaction, elsewhere))).toMatchObject({
    outcome: "admitted",
  });
});

test("of twenty at once under one key exactly one is admitted, and all get that one", async () => {
  const pool = database.open("clients", { poolSize: 20 });
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      pool
        .transaction()
        .execute((transaction) => admit(transaction, admission(`race-${index}`, { idempotencyKey: "race" }))),
    ),
  );
  expect(results.filter((result) => result.outcome === "admitted")).toHaveLength(1);
  expect(new Set(results.map((result) => result.requestId)).size).toBe(1);
});

test("an admission that is rolled back leaves the key free", async () => {
  const failing = inTransaction(async (transaction) => {
    await admit(transaction, admission("rolled-back"));
    throw new Error("the start couldn't be written");
  });
  await expect(failing).rejects.toThrow("the start couldn't be written");
  expect(await readRequest(database.ledger, "rolled-back")).toBeUndefined();
});

test("what was admitted can't be changed or removed", async () => {
  await inTransaction((transaction) => admit(transaction, admission("kept")));
  for (const change of [
    "update requests set body = '{}' where request_id = 'kept'",
    "update requests set fingerprint = 'x' where request_id = 'kept'",
    "delete from requests where request_id = 'kept'",
    "truncate requests cascade",
  ]) {
    await expect(sql.raw(change).execute(database.ledger), change).rejects.toThrow("never changed");
  }
});

test("states go forward only, and repeating a change is no change", async () => {
  const { ledger } = database;
  await inTransaction((transaction) => admit(transaction, admission("moves")));
  const move = (to: "running" | "parked" | "completed" | "failed") =>
    changeRequestState(ledger, { requestId: "moves", to, result: { last: to } });
  expect(await move("running")).toEqual({ outcome: "changed" });
  expect(await move("running")).toEqual({ outcome: "same" });
  expect(await move("parked")).toEqual({ outcome: "changed" });
  expect(await move("running")).toEqual({ outcome: "changed" });
  expect(await move("completed")).toEqual({ outcome: "changed" });
  expect(await move("failed")).toEqual({ outcome: "stale", state: "completed" });
  expect(await readRequest(ledger, "moves")).toMatchObject({
    state: "completed",
    result: { last: "completed" },
  });
  expect(await changeRequestState(ledger, { requestId: "not-there", to: "running" })).toEqual({
    outcome: "stale",
    state: undefined,
  });
});

test("a limit of open requests holds against admissions at the same time", async () => {
  const openMax = 4;
  const pool = database.open("clients", { poolSize: 12 });
  const admitWithinLimit = (index: number) =>
    pool
      .transaction()
      .execute(async (transaction) => {
        await admit(transaction, admission(`limited-${index}`, { tenant: "limited" }));
        if ((await countOpen(transaction, { kind: "invoice-batch", tenant: "limited" })) > openMax) {
          throw new Error("too many open");
        }
        return "admitted";
      })
      .catch((error: Error) => error.message);
  const outcomes = await Promise.all(Array.from({ length: 12 }, (_, index) => admitWithinLimit(index)));
  expect(outcomes.filter((outcome) => outcome === "admitted")).toHaveLength(openMax);
  expect(outcomes.filter((outcome) => outcome === "too many open")).toHaveLength(12 - openMax);

  const held = outcomes.indexOf("admitted");
  await changeRequestState(database.ledger, { requestId: `limited-${held}`, to: "completed" });
  expect(await admitWithinLimit(100)).toBe("admitted");
});

test("requests that don't move are found by their age", async () => {
  await inTransaction((transaction) => admit(transaction, admission("stuck", { tenant: "slow" })));
  const query = { state: "admitted", limit: 100 } as const;
  const found = await listStuckRequests(database.ledger, { ...query, olderThanMs: 0 });
  const stuck = found.find((each) => each.requestId === "stuck");
  expect(stuck).toMatchObject({ kind: "invoice-batch", tenant: "slow", workflowId: "batch:stuck" });
  expect(stuck?.ageMs).toBeGreaterThanOrEqual(0);
  expect(await listStuckRequests(database.ledger, { ...query, olderThanMs: 3_600_000 })).toEqual([]);
});

// Last, as its many requests would hide those of other tests from their lists.
test("rivals whose id is made from the key meet at either index, and none of them fails", async () => {
  const pool = database.open("rivals", { poolSize: 8 });
  // Each time the eight can meet in another order; so many times met the unnamed index about once when it was one.
  for (let time = 0; time < 100; time += 1) {
    const results = await Promise.all(
      Array.from({ length: 8 }, () =>
        pool.transaction().execute((transaction) => admit(transaction, admission(`made-${time}`))),
      ),
    );
    expect(results.filter(({ outcome }) => outcome === "admitted")).toHaveLength(1);
  }
});
