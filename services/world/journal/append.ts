/** Writing the journal, with the writer's role: append, and nothing else. */
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import type pg from "pg";
import { inTransaction } from "../database/transaction.js";
import type { System } from "../faults/fault.js";
import type { FaultsInForce } from "../faults/book.js";
import { digestOf, type Content, type JournalKind, type JournalOperation } from "./entry.js";

/**
 * Every append takes this lock until its transaction ends, so numbers are given in the order of the commits and a
 * reader never misses a row. It makes the world commit one thing at a time, which it can afford.
 */
const journalLock = 7_211_002;

const appendText = `
  with turn as materialized (select pg_advisory_xact_lock($1))
  insert into journal
    (system, operation, kind, request_id, business_key, idempotency_key, digest, content, status, faults)
  select $2, $3, $4, $5::uuid, $6, $7, $8, $9::jsonb, $10::integer, $11::text[] from turn`;

export class Journal {
  /** Emits `appended` after rows have become readable. */
  readonly events = new EventEmitter<{ appended: [] }>().setMaxListeners(0);

  constructor(private readonly pool: pg.Pool) {}

  /** Writes that the request was read, and gives the handle for its further rows. */
  async received(request: Omit<JournaledRequestFields, "requestId">): Promise<JournaledRequest> {
    const fields = { ...request, requestId: randomUUID() };
    await this.note("received", fields, null);
    return new JournaledRequest(this, fields);
  }

  /** One transaction for an effect and its `committed` rows. */
  async transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const result = await inTransaction(this.pool, async (client) => {
      // Taken before the effect, so that effects and their rows are in one order too.
      await client.query("select pg_advisory_xact_lock($1)", [journalLock]);
      return work(client);
    });
    this.events.emit("appended");
    return result;
  }

  /** A row of its own, apart from any effect. */
  async note(kind: JournalKind, fields: JournaledRequestFields, status: number | null): Promise<void> {
    await this.append(this.pool, kind, fields, fields.content, status);
    this.events.emit("appended");
  }

  /** A row on the given connection; {@link JournaledRequest} is the way to use it. */
  async append(
    connection: pg.Pool | pg.PoolClient,
    kind: JournalKind,
    fields: JournaledRequestFields,
    content: Content,
    status: number | null,
  ): Promise<void> {
    // Named, so that the server parses and plans it once a connection: every request makes it two or three times.
    await connection.query({
      name: "append",
      text: appendText,
      values: [
        journalLock,
        fields.system,
        fields.operation,
        kind,
        fields.requestId,
        fields.key,
        fields.idempotencyKey,
        digestOf(content),
        JSON.stringify(content),
        status,
        Object.keys(fields.faults),
      ],
    });
  }
}

export interface JournaledRequestFields {
  readonly requestId: string;
  readonly system: System;
  readonly operation: JournalOperation;
  readonly key: string;
  readonly idempotencyKey: string | null;
  readonly content: Content;
  readonly faults: FaultsInForce;
}

/** One request's rows after `received`. */
export class JournaledRequest {
  constructor(
    private readonly journal: Journal,
    private readonly fields: JournaledRequestFields,
  ) {}

  /**
   * @param client of the transaction that makes the effect: there is no way to write this row without it.
   * @param content what was committed.
   */
  committed(client: pg.PoolClient, operation: JournalOperation, content: Content): Promise<void> {
    return this.journal.append(client, "committed", { ...this.fields, operation }, content, null);
  }

  /** Written before the answer is handed over, so that no client can know of an answer that the journal doesn't. */
  answered(status: number): Promise<void> {
    return this.#note("answered", status);
  }

  dropped(): Promise<void> {
    return this.#note("dropped", null);
  }

  async #note(kind: "answered" | "dropped", status: number | null): Promise<void> {
    await this.journal.note(kind, this.fields, status);
  }
}
