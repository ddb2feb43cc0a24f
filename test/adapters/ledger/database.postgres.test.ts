import { sql } from "kysely";
import { expect, test } from "vitest";

import {
  describeUrl,
  ledgerTimeouts,
  LedgerMisconfigured,
  openLedger,
} from "../../../adapters/ledger/database.js";
import { withRetry, type RetryableFailure } from "../../../adapters/ledger/retryable.js";
import { receive } from "../../../adapters/ledger/inbox/receive.js";
import { ledgerDatabase } from "../../support/database.js";

const database = ledgerDatabase();

const settingsOf = async (ledger: ReturnType<typeof openLedger>) => {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name in ('lock_timeout', 'idle_in_transaction_session_timeout',
      'statement_timeout', 'client_connection_check_interval', 'application_name')`.execute(ledger);
  return Object.fromEntries(rows.map((row) => [row.name, row.setting]));
};

test("every connection has the server's limits and the process's name", async () => {
  expect(await settingsOf(database.open("named"))).toEqual({
    application_name: "named",
    lock_timeout: String(ledgerTimeouts.lockMs),
    idle_in_transaction_session_timeout: String(ledgerTimeouts.idleInTransactionMs),
    statement_timeout: String(ledgerTimeouts.statementMs),
    client_connection_check_interval: String(ledgerTimeouts.clientCheckMs),
  });
  const patient = database.open("patient", { timeouts: { lockMs: 600_000, idleInTransactionMs: 0 } });
  expect(await settingsOf(patient)).toMatchObject({
    lock_timeout: "600000",
    idle_in_transaction_session_timeout: "0",
    statement_timeout: String(ledgerTimeouts.statementMs),
  });
});

test("who can't get a lock is told so and has written nothing", async () => {
  const impatient = database.open("impatient", { timeouts: { lockMs: 50 } });
  await receive(database.ledger, { source: "s", eventId: "locked", subject: "x", body: {} });
  await database.ledger.transaction().execute(async (transaction) => {
    await sql`select from inbox where event_id = 'locked' for update`.execute(transaction);
    await expect(
      sql`update inbox set available_at = ledger_now() where event_id = 'locked'`.execute(impatient),
    ).rejects.toMatchObject({ code: "55P03" });
  });
});

test("a process that is stopped inside a transaction doesn't hold its locks", async () => {
  const stopped = database.open("stopped", { timeouts: { idleInTransactionMs: 100 } });
  await receive(database.ledger, { source: "s", eventId: "held", subject: "x", body: {} });
  const holding = stopped.transaction().execute(async (transaction) => {
    await sql`select from inbox where event_id = 'held' for update`.execute(transaction);
    // Waits for the lock, which the server takes from the one that says nothing any more.
    await sql`update inbox set available_at = ledger_now() where event_id = 'held'`.execute(database.ledger);
    await sql`select 1`.execute(transaction);
  });
  await expect(holding).rejects.toThrow();
});

test("big integers are numbers, and one that a number can't hold is refused", async () => {
  const { rows } = await sql`select 9007199254740991::int8 as most, count(*) as none from outbox`.execute(
    database.ledger,
  );
  expect(rows).toEqual([{ most: Number.MAX_SAFE_INTEGER, none: 0 }]);
  await expect(sql`select 9007199254740992::int8`.execute(database.ledger)).rejects.toThrow(
    "The ledger gave the integer 9007199254740992",
  );
});

test("an address that isn't Postgres' is refused, and a password is never shown", () => {
  const open = (url: string) => () => openLedger({ url, applicationName: "x" });
  expect(open("nonsense")).toThrow(LedgerMisconfigured);
  expect(open("http://me:secret@host/db")).toThrow(
    "The ledger's url starts with http:; allowed: postgres://user:password@host:port/database.",
  );
  expect(describeUrl("postgres://me:secret@host:5432/ledger?password=other")).toBe(
    "postgres://me@host:5432/ledger",
  );
});

test("a write whose answer was lost is read back and not repeated", async () => {
  const killed = database.open("killed-after-commit", { poolSize: 1 });
  const event = { source: "s", eventId: "lost-answer", subject: "x", body: { n: 1 } };
  const failures: RetryableFailure[] = [];
  let calls = 0;
  const result = await withRetry(
    async () => {
      calls += 1;
      await receive(killed, event);
      // Committed; then the session ends before the caller has its answer.
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(killed);
      return "answered";
    },
    {
      readBack: async () => {
        const { outcome } = await receive(database.ledger, event);
        return outcome === "same" ? "read back" : undefined;
      },
      onRetry: (failure) => failures.push(failure),
    },
  );
  expect(result).toBe("read back");
  expect(calls).toBe(1);
  expect(failures).toMatchObject([{ mayHaveHappened: true }]);
});
