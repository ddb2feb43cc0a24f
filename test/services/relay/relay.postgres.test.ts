import { sql } from "kysely";
import { beforeEach, expect, test } from "vitest";

import type { ClaimedMessage } from "../../../adapters/ledger/outbox/claim.js";
import type { Delivery } from "../../../adapters/ledger/outbox/delivery.js";
import { enqueue } from "../../../adapters/ledger/outbox/enqueue.js";
import type { OutboxMessage } from "../../../adapters/ledger/outbox/message.js";
import { dispatchRound, type Dispatcher } from "../../../services/relay/dispatch.js";
import { OutboxListener } from "../../../services/relay/listener.js";
import { runRelay } from "../../../services/relay/relay.js";
import { Bell } from "../../../services/relay/wake.js";
import { ledgerDatabase, shiftLedgerClock } from "../../support/database.js";

const database = ledgerDatabase();
/** Longer than a test may take: what happens within a test wasn't caused by the poll. */
const hourMs = 3_600_000;

const start = (workflowId: string): OutboxMessage => ({
  kind: "start",
  workflowId,
  workflowType: "invoiceBatch",
  taskQueue: "q",
  args: [],
});
const mail = (to: string): OutboxMessage => ({ kind: "mail", to, subject: "s", text: "t" });
const write = (messageKey: string, message: OutboxMessage) =>
  database.ledger.transaction().execute((transaction) => enqueue(transaction, messageKey, message));

beforeEach(async () => {
  await shiftLedgerClock(database.ledger, 0);
  await sql`truncate outbox, recovery_queue restart identity`.execute(database.ledger);
});

/** A receiver that notes what it gets and answers as it is told. */
function receiver(answer: (message: ClaimedMessage) => Delivery | Promise<Delivery>) {
  const got: string[] = [];
  const take = async (message: ClaimedMessage): Promise<Delivery> => {
    got.push(message.messageKey);
    return answer(message);
  };
  return { got, take };
}

function dispatcher(owner: string, { take }: ReturnType<typeof receiver>): Dispatcher {
  return {
    ledger: database.ledger,
    owner,
    leaseMs: 60_000,
    batchSize: 10,
    sendToWorkflow: take,
    sendMail: take,
  };
}

async function rows() {
  return database.ledger
    .selectFrom("outbox")
    .select(["message_key", "state", "last_error", "outcome", "claims"])
    .orderBy("id")
    .execute();
}

const recoveryRows = async () =>
  database.ledger.selectFrom("recovery_queue").select(["subject_kind", "subject", "reason"]).execute();

test("each message goes to its sender, and its answer stays with it", async () => {
  await write("start:1", start("w1"));
  await write("mail:1", mail("ann@example.com"));
  const all = receiver((message) => ({ delivery: "sent", outcome: { got: message.messageKey } }));
  expect(await dispatchRound(dispatcher("one", all))).toEqual({ claimed: 2, retryAfterMs: [] });
  expect(all.got.sort()).toEqual(["mail:1", "start:1"]);
  expect(await rows()).toMatchObject([
    { message_key: "start:1", state: "sent", outcome: { got: "start:1" } },
    { message_key: "mail:1", state: "sent", outcome: { got: "mail:1" } },
  ]);
});

test("a closed workflow is recorded and needs nobody; an undeliverable mail needs a person", async () => {
  await write("hint:1", start("w1"));
  await write("mail:1", mail("nobody"));
  const refusing = receiver(({ message }) => ({
    delivery: "failed",
    reason: message.kind === "mail" ? "no such address" : "the workflow is closed",
    outcome: {},
    needsPerson: message.kind === "mail",
  }));
  await dispatchRound(dispatcher("one", refusing));
  expect(await rows()).toMatchObject([
    { state: "failed", last_error: "the workflow is closed" },
    { state: "failed", last_error: "no such address" },
  ]);
  expect(await recoveryRows()).toEqual([
    { subject_kind: "outbox", subject: "mail:1", reason: "message-not-deliverable" },
  ]);
});

test("an uncertain send is made again under the same key, later each time", async () => {
  await write("start:1", start("w1"));
  const waits: number[] = [];
  const silent = receiver(() => ({ delivery: "again", error: "no answer" }));
  for (let round = 0; round < 4; round += 1) {
    const { retryAfterMs } = await dispatchRound(dispatcher("one", silent));
    waits.push(...retryAfterMs);
    await shiftLedgerClock(database.ledger, 10_000 * (round + 1));
  }
  expect(silent.got).toEqual(["start:1", "start:1", "start:1", "start:1"]);
  for (const [index, wait] of waits.entries()) {
    expect(wait).toBeGreaterThanOrEqual(250 * 2 ** index);
    expect(wait).toBeLessThanOrEqual(375 * 2 ** index + 1);
  }
  expect(await rows()).toMatchObject([{ state: "pending", last_error: "no answer", claims: 4 }]);
});

test("what a dead relay had claimed is sent by another after its lease, and a late answer changes nothing", async () => {
  await write("start:1", start("w1"));
  let arrive: (() => void) | undefined;
  let answer: ((delivery: Delivery) => void) | undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const paused = receiver(
    () =>
      new Promise<Delivery>((resolve) => {
        answer = resolve;
        arrive?.();
      }),
  );
  const results: string[] = [];
  const first = dispatchRound({
    ...dispatcher("one", paused),
    onSettled: (_, __, result) => results.push(result),
  });
  await arrived;
  const second = receiver(() => ({ delivery: "sent", outcome: { by: "two" } }));
  expect(await dispatchRound(dispatcher("two", second))).toMatchObject({ claimed: 0 });
  await shiftLedgerClock(database.ledger, 60_001);
  expect(await dispatchRound(dispatcher("two", second))).toMatchObject({ claimed: 1 });

  answer?.({ delivery: "sent", outcome: { by: "one" } });
  await first;
  expect(results).toEqual(["stale"]);
  expect(await rows()).toMatchObject([{ state: "sent", outcome: { by: "two" }, claims: 2 }]);
});

test("a sender that breaks the rules by throwing leaves the lease, and the round says so", async () => {
  await write("start:1", start("w1"));
  await write("start:2", start("w2"));
  const broken = receiver(({ messageKey }) => {
    if (messageKey === "start:1") {
      throw new Error("a fault of ours");
    }
    return { delivery: "sent", outcome: {} };
  });
  await expect(dispatchRound(dispatcher("one", broken))).rejects.toThrow("a fault of ours");
  expect(await rows()).toMatchObject([{ state: "pending" }, { state: "sent" }]);
});

test("a running relay is woken by a commit, retries by its own clock, and drains when it is stopped", async () => {
  const bell = new Bell();
  const listener = new OutboxListener({
    url: database.url,
    applicationName: "relay listener",
    onWake: () => bell.ring(),
  });
  await listener.start();
  const tries = new Map<string, number>();
  const events = new EventLog();
  const stop = new AbortController();
  const flaky = receiver(({ messageKey }) => {
    const number = (tries.get(messageKey) ?? 0) + 1;
    tries.set(messageKey, number);
    events.add(`${messageKey} try ${number}`);
    return number === 1 ? { delivery: "again", error: "busy" } : { delivery: "sent", outcome: {} };
  });
  const running = runRelay({ ...dispatcher("one", flaky), bell, pollMs: hourMs }, stop.signal);
  await write("start:1", start("w1"));
  await events.until("start:1 try 2");
  await write("start:2", start("w2"));
  await events.until("start:2 try 2");
  stop.abort();
  await running;
  await listener.stop();
  expect(await rows()).toMatchObject([{ state: "sent" }, { state: "sent" }]);
});

test("without any notification the poll finds the message", async () => {
  const events = new EventLog();
  const stop = new AbortController();
  const polled = receiver(({ messageKey }) => {
    events.add(messageKey);
    return { delivery: "sent", outcome: {} };
  });
  const running = runRelay({ ...dispatcher("one", polled), bell: new Bell(), pollMs: 20 }, stop.signal);
  await write("start:1", start("w1"));
  await events.until("start:1");
  stop.abort();
  await running;
  expect(await rows()).toMatchObject([{ state: "sent" }]);
});

test("a listener that lost its connection listens again, and rings for what it may have missed", async () => {
  const events = new EventLog();
  let rings = 0;
  const listener = new OutboxListener({
    url: database.url,
    applicationName: "killed listener",
    onWake: () => events.add(`ring ${(rings += 1)}`),
    onLost: () => events.add("lost"),
  });
  await listener.start();
  await events.until("ring 1");
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
             where application_name = 'killed listener'`.execute(database.ledger);
  await events.until("lost");
  await events.until("ring 2");
  await write("start:1", start("w1"));
  await events.until("ring 3");
  await listener.stop();
  expect(rings).toBe(3);
});

test("a failing ledger doesn't end the relay", async () => {
  await write("start:1", start("w1"));
  const events = new EventLog();
  const stop = new AbortController();
  const bell = new Bell();
  const fine = receiver(({ messageKey }) => {
    events.add(messageKey);
    return { delivery: "sent", outcome: {} };
  });
  await sql`alter table outbox rename to outbox_away`.execute(database.ledger);
  const running = runRelay(
    {
      ...dispatcher("one", fine),
      bell,
      pollMs: hourMs,
      onLedgerFailure: (error) => events.add(`failed: ${(error as { code?: string }).code}`),
    },
    stop.signal,
  );
  await events.until("failed: 42P01");
  await sql`alter table outbox_away rename to outbox`.execute(database.ledger);
  bell.ring();
  await events.until("start:1");
  stop.abort();
  await running;
  expect(await rows()).toMatchObject([{ state: "sent" }]);
});

/** What happened, and a way to wait for it that doesn't care whether it happened already. */
class EventLog {
  readonly #events: string[] = [];
  readonly #waiting: { event: string; resolve: () => void }[] = [];

  add(event: string): void {
    this.#events.push(event);
    for (const each of this.#waiting.filter((waiting) => waiting.event === event)) {
      each.resolve();
    }
  }

  until(event: string): Promise<void> {
    return this.#events.includes(event)
      ? Promise.resolve()
      : new Promise((resolve) => this.#waiting.push({ event, resolve }));
  }
}
