import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";

import { preparingPool } from "./prepared-statements.js";

/** A statement as the driver takes it: with a name it is prepared once for each connection. */
export interface DriverStatement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Kysely over a pool, with a short way to that pool for a statement whose text is ready.
 *
 * On its way through Kysely a statement is handed on by some ten asynchronous functions. An operation waits for the
 * outside system between its two statements, so their code has gone cold and each call pays for all of it: a fifth
 * of a millisecond of the process's time, which is half of what the driver itself takes.
 *
 * A transaction, and what `withPlugin` and its like give, are Kysely's own objects and none of these; they have no
 * short way.
 */
export class PooledLedger<Tables> extends Kysely<Tables> {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    super({ dialect: new PostgresDialect({ pool: preparingPool(pool) }) });
    this.#pool = pool;
  }

  /** Runs one statement outside any transaction, on a connection of the pool. */
  async runDirectly(statement: DriverStatement): Promise<readonly unknown[]> {
    const client = await this.#pool.connect();
    try {
      const { rows } = await client.query<object>(statement as pg.QueryConfig);
      return rows;
    } finally {
      client.release();
    }
  }

  /** Closes the pool; Kysely by itself would leave it open as long as no statement has gone through Kysely. */
  override async destroy(): Promise<void> {
    await super.destroy();
    if (!this.#pool.ending) {
      await this.#pool.end();
    }
  }
}
