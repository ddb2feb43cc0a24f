import type { Generated } from "kysely";

/** One row for each step that this database has taken. */
export interface MigrationTable {
  readonly number: number;
  readonly name: string;
  /** A process that doesn't know this step must not work on the database. */
  readonly breaking: boolean;
  /** SHA-256 of the step's SQL, in lower-case hex, so that an edited step is noticed. */
  readonly digest: string;
  readonly applied_at: Generated<Date>;
}

export interface MigrationTables {
  ledger_migrations: MigrationTable;
}
