import { sql } from "kysely";
import { describe, expect, test } from "vitest";

import { activate } from "../../../../adapters/ledger/generations/activate.js";
import { ensureGeneration } from "../../../../adapters/ledger/generations/ensure.js";
import { fence, renew } from "../../../../adapters/ledger/generations/fence.js";
import { createOperationJournal } from "../../../../adapters/ledger/operations/journal.js";
import { submit } from "../../../../adapters/ledger/operations/submit.js";
import type { Ledger } from "../../../../adapters/ledger/database.js";
import { ledgerDatabase } from "../../../support/database.js";

const database = ledgerDatabase();
const who = { attempt: 1, worker: "test" };
const fingerprint = { version: 1, digest: "a".repeat(64) };

async function intended(ownerId: string) {
  const { generation } = await ensureGeneration(database.ledger, ownerId);
  const owner = { id: ownerId, generation };
  const key = `tenant:${ownerId}:create`;
  await createOperationJournal(database.ledger).intend({
    ...who,
    key,
    provider: "cloud",
    fingerprint,
    repair: 0,
    owner,
    andSubmit: false,
  });
  return { owner, key, claim: { ...who, key, epoch: 1, owner } };
}

const fenceNow = (ledger: Ledger, owner: { id: string; generation: number }) =>
  ledger.transaction().execute((transaction) => fence(transaction, owner));

/** Until a session of this application waits for a lock; the fence has then asked for the row and hasn't got it. */
async function untilItWaits(applicationName: string): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from pg_stat_activity where application_name = ${applicationName} and wait_event_type = 'Lock'
    `.execute(database.ledger);
    if (rows.length > 0) {
      return;
    }
  }
}

describe("a fence", () => {
  test("raised while a submission is being stored waits for it and lists it", async () => {
    const { owner, key, claim } = await intended("tenant-1");
    const other = database.open("fencer");
    let fenced: ReturnType<typeof fenceNow> | undefined;
    await database.ledger.transaction().execute(async (transaction) => {
      expect((await submit(transaction, claim)).result).toBe("submitting");
      fenced = fenceNow(other, owner);
      await untilItWaits("fencer");
    });
    expect(await fenced).toEqual({
      result: "fenced",
      generation: 1,
      open: [{ key, state: "submitting", generation: 1 }],
    });
  });

  test("that came first keeps a submission waiting, and then lets nothing through", async () => {
    const { owner, claim } = await intended("tenant-2");
    const other = database.open("submitter");
    let submitted: ReturnType<typeof submit> | undefined;
    await database.ledger.transaction().execute(async (transaction) => {
      expect(await fence(transaction, owner)).toMatchObject({ result: "fenced", open: [] });
      submitted = submit(other, claim);
      await untilItWaits("submitter");
    });
    expect(await submitted).toEqual({ result: "fenced" });
  });

  test("and an activation exclude each other", async () => {
    const { owner } = await intended("tenant-3");
    const [activated, fenced] = await Promise.all([
      activate(database.ledger, owner),
      fenceNow(database.open("rival"), owner),
    ]);
    expect([activated.result, fenced.result]).toEqual(
      activated.result === "activated" ? ["activated", "activated"] : ["stale", "fenced"],
    );
  });

  test("of another generation is stale", async () => {
    const { owner } = await intended("tenant-4");
    expect(await fenceNow(database.ledger, { ...owner, generation: 2 })).toEqual({ result: "stale" });
    expect(await fenceNow(database.ledger, { id: "nobody", generation: 1 })).toEqual({ result: "stale" });
  });

  test("again gives the list anew", async () => {
    const { owner } = await intended("tenant-5");
    const first = await fenceNow(database.ledger, owner);
    expect(await fenceNow(database.ledger, owner)).toEqual(first);
  });
});

test("a new generation lets nothing of the older one through, and begins once", async () => {
  const { owner, claim } = await intended("tenant-6");
  const begin = () => database.ledger.transaction().execute((transaction) => renew(transaction, owner));
  expect(await begin()).toMatchObject({ result: "renewed", generation: 2 });
  expect(await begin()).toEqual({ result: "stale" });
  expect(await submit(database.ledger, claim)).toEqual({ result: "fenced" });
});

test("events are only ever added", async () => {
  const { key } = await intended("tenant-7");
  const { ledger } = database;
  await expect(ledger.deleteFrom("operation_events").where("key", "=", key).execute()).rejects.toThrow(
    "refused",
  );
  await expect(
    ledger.updateTable("operation_events").set({ why: "other" }).where("key", "=", key).execute(),
  ).rejects.toThrow("refused");
  await expect(sql`truncate operation_events`.execute(ledger)).rejects.toThrow("refused");
});
