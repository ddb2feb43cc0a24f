import type { Kysely, Transaction } from "kysely";
import pg from "pg";

import type { InboxTables } from "./inbox/tables.js";
import type { MigrationTables } from "./migrations/tables.js";
import type { OperationTables } from "./operations/tables.js";
import type { OutboxTables } from "./outbox/tables.js";
import type { PayloadTables } from "./payloads/tables.js";
import type { RequestTables } from "./requests/tables.js";
import { PooledLedger } from "./pooled-ledger.js";
import type { TicketTables } from "./tickets/tables.js";

/** Every table of the ledger; each folder owns the types of its own. */
export interface LedgerDatabase
  extends
    MigrationTables,
    OperationTables,
    PayloadTables,
    RequestTables,
    OutboxTables,
    InboxTables,
    TicketTables {}

/** What a verb of one statement takes: it may stand alone or be part of a caller's transaction. */
export type Ledger = Kysely<LedgerDatabase>;

/** What a verb takes that locks or that belongs to a decision: it can't be called outside a transaction. */
export type LedgerTransaction = Transaction<LedgerDatabase>;

/** Limits that the server enforces on each connection of the ledger. All in milliseconds; 0 switches one off. */
export interface LedgerTimeouts {
  /**
   * Longest wait for a row lock. Every lock of the ledger is held for a few statements only, so a longer wait
   * means a holder that is stuck; failing is the lesser error, as `55P03` is known not to have written.
   */
  readonly lockMs: number;
  /**
   * Longest pause between two statements of one transaction. A process that is stopped (not dead) inside a
   * transaction keeps its locks; this ends the transaction, so one paused worker can't hold up the others.
   * Longer than a bad garbage collection, shorter than an activity's time-out.
   */
  readonly idleInTransactionMs: number;
  /** Longest single statement. No statement of the ledger scans a table, so only a sick server needs as long. */
  readonly statementMs: number;
  /**
   * How often the server looks whether the client of a running statement is still there. Without it the
   * statement of a killed process waits on, and may still write minutes later; with it, a late write of a dead
   * process comes within about this time. It is what sets Postgres 15 as the floor: older servers have it on
   * Linux only.
   */
  readonly clientCheckMs: number;
}

export const ledgerTimeouts: LedgerTimeouts = {
  lockMs: 5_000,
  idleInTransactionMs: 10_000,
  statementMs: 30_000,
  clientCheckMs: 1_000,
};

export interface LedgerOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Shown in `pg_stat_activity`, so that a person sees which process holds a lock. */
  readonly applicationName: string;
  /** Most connections at once; default 10. Ten processes of ten fit a server's default limit of one hundred. */
  readonly poolSize?: number;
  /** Overrides of `ledgerTimeouts`. */
  readonly timeouts?: Partial<LedgerTimeouts>;
  /**
   * Called when a connection that nobody was using breaks. The pool replaces it, so this is for the log only;
   * default: a process warning.
   */
  readonly onIdleConnectionLost?: (error: Error) => void;
}

/**
 * How long to wait for a connection, in milliseconds. Past it the pool is starved or the server unreachable,
 * and the caller's own retry is better informed than a longer queue.
 */
const connectTimeoutMs = 10_000;

/**
 * Opens a pool of connections to the ledger. Nothing is sent until the first query; `destroy()` closes the pool.
 *
 * The server's limits travel with the connection's start, so no statement runs without them.
 *
 * @throws `LedgerMisconfigured` when the URL can't be read as a Postgres URL.
 */
export function openLedger(options: LedgerOptions): Ledger {
  const pool = new pg.Pool({
    ...connectionSettings(options),
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  pool.on("error", options.onIdleConnectionLost ?? warnOfLostConnection);
  // The pool listens to its idle connections only. One that breaks in use, between two statements, would end the
  // process as an unhandled error; whoever uses it learns of the loss from the next statement.
  pool.on("connect", (client) => client.on("error", () => undefined));
  return new PooledLedger<LedgerDatabase>(pool);
}

/**
 * One client of its own, for what a pool can't do: listening, and taking a lock that belongs to a session. The
 * caller connects and ends it, and listens to its `error` event.
 *
 * @throws `LedgerMisconfigured` when the URL can't be read as a Postgres URL.
 */
export function ledgerClient(options: Omit<LedgerOptions, "poolSize" | "onIdleConnectionLost">): pg.Client {
  return new pg.Client({ ...connectionSettings(options), connectionTimeoutMillis: connectTimeoutMs });
}

function connectionSettings(options: LedgerOptions): pg.ClientConfig {
  const timeouts = { ...ledgerTimeouts, ...options.timeouts };
  return {
    connectionString: checkedUrl(options.url),
    application_name: options.applicationName,
    keepAlive: true,
    options: [
      ["lock_timeout", timeouts.lockMs],
      ["idle_in_transaction_session_timeout", timeouts.idleInTransactionMs],
      ["statement_timeout", timeouts.statementMs],
      ["client_connection_check_interval", timeouts.clientCheckMs],
    ]
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
    types: { getTypeParser: ledgerTypeParser as typeof pg.types.getTypeParser },
  };
}

/** Postgres' `int8` as a number: the ledger's big integers count things and stay far below 2^53. */
function ledgerTypeParser(oid: number, format?: "text" | "binary"): unknown {
  return oid === pg.types.builtins.INT8 && format !== "binary"
    ? parseSafeInteger
    : pg.types.getTypeParser(oid, format as "text");
}

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(
      `The ledger gave the integer ${text}, which a JavaScript number can't hold exactly; allowed: -(2^53 - 1) to 2^53 - 1.`,
    );
  }
  return value;
}

function warnOfLostConnection(error: Error): void {
  process.emitWarning(`An idle connection to the ledger was lost and is replaced: ${error.message}`, {
    code: "LEDGER_CONNECTION_LOST",
  });
}

/** The ledger's address can't be used; a person has to change the configuration. */
export class LedgerMisconfigured extends Error {
  override readonly name = "LedgerMisconfigured";
}

function checkedUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["postgres:", "postgresql:"].includes(parsed.protocol)) {
    throw new LedgerMisconfigured(
      `The ledger's url ${parsed === undefined ? "can't be read" : `starts with ${parsed.protocol}`}; ` +
        "allowed: postgres://user:password@host:port/database.",
    );
  }
  return url;
}

/** A Postgres URL for people to read: without the password and without parameters, which may hold secrets too. */
export function describeUrl(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === "" ? "" : `${username}@`}${host}${pathname}`;
}
