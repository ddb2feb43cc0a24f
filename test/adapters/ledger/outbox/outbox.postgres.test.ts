import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";

import { ledgerClient, type Ledger } from "../../../../adapters/ledger/database.js";
import { claimOutbox, type ClaimedMessage } from "../../../../adapters/ledger/outbox/claim.js";
import { enqueue } from "../../../../adapters/ledger/outbox/enqueue.js";
import { markFailed } from "../../../../adapters/ledger/outbox/mark-failed.js";
import { markSent } from "../../../../adapters/ledger/outbox/mark-sent.js";
import type { OutboxMessage } from "../../../../adapters/ledger/outbox/message.js";
import { releaseOutbox } from "../../../../adapters/ledger/outbox/release.js";
import { ledgerDatabase, shiftLedgerClock } from "../../../support/database.js";

const database = ledgerDatabase();

const signal = (workflowId: string): OutboxMessage => ({
  kind: "signal",
  workflowId,
  signal: "wake",
  args: [],
});
const write = (...entries: readonly (readonly [key: string, workflowId: string])[]) =>
  database.ledger.transaction().execute(async (transaction) => {
    for (const [key, workflowId] of entries) {
      await enqueue(transaction, key, signal(workflowId));
    }
  });
const claim = (ledger: Ledger, owner: string, limit = 10) =>
  claimOutbox(ledger, { owner, leaseMs: 60_000, limit });
const keysOf = (messages: readonly ClaimedMessage[]) => messages.map((each) => each.messageKey);

beforeEach(async () => {
  await shiftLedgerClock(database.ledger, 0);
  await sql`truncate outbox restart identity`.execute(database.ledger);
});

test("a message is there if and only if its transaction committed, and once for each key", async () => {
  const rolledBack = database.ledger.transaction().execute(async (transaction) => {
    await enqueue(transaction, "lost", signal("w"));
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  await write(["kept", "w"]);
  const again = await database.ledger
    .transaction()
    .execute((transaction) => enqueue(transaction, "kept", signal("other")));
  expect(again).toBe("existing");
  const claimed = await claim(database.ledger, "one");
  expect(claimed).toEqual([
    {
      id: expect.any(Number) as number,
      messageKey: "kept",
      orderingKey: "workflow:w",
      message: signal("w"),
      owner: "one",
      claim: 1,
      ageMs: expect.any(Number) as number,
    },
  ]);
});

test("messages of one key are claimed one at a time and in order; other keys don't wait", async () => {
  const { ledger } = database;
  await write(["a1", "a"], ["a2", "a"], ["b1", "b"], ["a3", "a"]);
  const first = await claim(ledger, "one");
  expect(keysOf(first)).toEqual(["a1", "b1"]);
  expect(await claim(ledger, "two"), "while a1 is leased, a2 is nobody's").toEqual([]);

  expect(await markSent(ledger, { ...first[0]!, outcome: {} })).toBe("done");
  const second = await claim(ledger, "two");
  expect(keysOf(second)).toEqual(["a2"]);
  expect(
    await markFailed(ledger, { ...second[0]!, reason: "the workflow is closed", outcome: { closed: true } }),
  ).toBe("done");
  expect(keysOf(await claim(ledger, "one")), "a failed message doesn't hold up the next").toEqual(["a3"]);
});

test("a back-off holds up the message and those behind it, and no others", async () => {
  const { ledger } = database;
  await write(["a1", "a"], ["a2", "a"], ["b1", "b"]);
  const [a1] = await claim(ledger, "one", 1);
  expect(await releaseOutbox(ledger, { ...a1!, error: "no answer", retryAfterMs: 30_000 })).toBe("done");
  expect(keysOf(await claim(ledger, "one"))).toEqual(["b1"]);
  await shiftLedgerClock(ledger, 30_001);
  const [again] = await claim(ledger, "two");
  expect(again).toMatchObject({ messageKey: "a1", claim: 2 });
});

test("a lease that ran out is claimed anew, and the late owner changes nothing", async () => {
  const { ledger } = database;
  await write(["a1", "a"]);
  const [early] = await claim(ledger, "one");
  await shiftLedgerClock(ledger, 60_001);
  const [late] = await claim(ledger, "two");
  expect(late).toMatchObject({ messageKey: "a1", owner: "two", claim: 2 });

  expect(await markSent(ledger, { ...early!, outcome: { by: "one" } })).toBe("stale");
  expect(await markFailed(ledger, { ...early!, reason: "x", outcome: {} })).toBe("stale");
  expect(await releaseOutbox(ledger, { ...early!, error: "x", retryAfterMs: 0 })).toBe("stale");
  expect(await markSent(ledger, { ...late!, outcome: { by: "two" } })).toBe("done");
  const row = await ledger.selectFrom("outbox").selectAll().executeTakeFirstOrThrow();
  expect(row).toMatchObject({ state: "sent", outcome: { by: "two" }, owner: null, leased_until: null });
});

test("the same owner's forgotten claim is stale too", async () => {
  const { ledger } = database;
  await write(["a1", "a"]);
  const [early] = await claim(ledger, "one");
  await shiftLedgerClock(ledger, 60_001);
  const [late] = await claim(ledger, "one");
  expect(await markSent(ledger, { ...early!, outcome: {} })).toBe("stale");
  expect(await markSent(ledger, { ...late!, outcome: {} })).toBe("done");
});

test("a settled message stays as it is", async () => {
  const { ledger } = database;
  await write(["a1", "a"]);
  const [a1] = await claim(ledger, "one");
  await markSent(ledger, { ...a1!, outcome: {} });
  await expect(sql`update outbox set state = 'pending', settled_at = null`.execute(ledger)).rejects.toThrow(
    "update of outbox refused: this row is settled as sent",
  );
});

test("a claim that isn't committed yet is neither waited for nor made twice", async () => {
  await write(["a1", "a"], ["a2", "a"], ["b1", "b"]);
  const impatient = database.open("impatient", { timeouts: { lockMs: 200 } });
  await database.ledger.transaction().execute(async (transaction) => {
    expect(keysOf(await claim(transaction, "one", 1))).toEqual(["a1"]);
    expect(keysOf(await claim(impatient, "two"))).toEqual(["b1"]);
  });
  expect(await claim(impatient, "two")).toEqual([]);
});

test("two dispatchers send everything once and each key in order", async () => {
  const keys = ["a", "b", "c", "d", "e"];
  const entries = Array.from({ length: 100 }, (_, index) => {
    const workflowId = keys[(index * 7) % keys.length]!;
    return [`${workflowId}-${String(index).padStart(3, "0")}`, workflowId] as const;
  });
  await write(...entries);
  const sent: string[] = [];
  const dispatch = async (owner: string): Promise<void> => {
    const ledger = database.open(owner);
    while ((await pendingMessages()) > 0) {
      for (const message of await claim(ledger, owner, 3)) {
        sent.push(message.messageKey);
        expect(await markSent(ledger, { ...message, outcome: { by: owner } })).toBe("done");
      }
    }
  };
  await Promise.all([dispatch("one"), dispatch("two")]);

  expect(sent).toHaveLength(entries.length);
  expect(new Set(sent).size).toBe(entries.length);
  for (const key of keys) {
    const ofKey = sent.filter((each) => each.startsWith(`${key}-`));
    expect(ofKey).toEqual([...ofKey].sort());
  }
});

test("a committed message notifies, one that is rolled back doesn't", async () => {
  const client = ledgerClient({ url: database.url, applicationName: "listener" });
  await client.connect();
  await client.query("listen ledger_outbox");
  const heard: string[] = [];
  const notified = new Promise<void>((resolve) => {
    client.on("notification", ({ channel, payload }) => {
      heard.push(`${channel} ${payload}`);
      if (payload === "end") {
        resolve();
      }
    });
  });
  await database.ledger
    .transaction()
    .execute(async (transaction) => {
      await enqueue(transaction, "never", signal("w"));
      throw new Error("rolled back");
    })
    .catch(() => undefined);
  await write(["a1", "a"]);
  await sql`select pg_notify('ledger_outbox', 'end')`.execute(database.ledger);
  await notified;
  await client.end();
  expect(heard).toEqual(["ledger_outbox ", "ledger_outbox end"]);
});

async function pendingMessages(): Promise<number> {
  const { count } = await database.ledger
    .selectFrom("outbox")
    .select((expression) => expression.fn.countAll<number>().as("count"))
    .where("state", "=", "pending")
    .executeTakeFirstOrThrow();
  return count;
}
