import type { Migration } from "./migration.js";

/**
 * `ledger_now()` is the only clock of the ledger: whether a deadline or a lease has passed is asked of one clock,
 * never of the many of the processes. It is `clock_timestamp()`, not `now()`: `now()` stands still inside a
 * transaction, so one that waited for a ticket's lock until after the deadline would still count as in time.
 *
 * A test database may replace the function; nothing else may.
 *
 * `ledger_refuse_change()` is the trigger of the append-only tables.
 */
export const ledgerNow: Migration = {
  name: "0000-ledger-now",
  breaking: false,
  sql: `
create function ledger_now() returns timestamptz
  language sql volatile
  as $$ select clock_timestamp() $$;

create function ledger_refuse_change() returns trigger
  language plpgsql
  as $$
begin
  raise exception '% of % refused: its rows are never changed and never removed', lower(tg_op), tg_table_name
    using errcode = 'integrity_constraint_violation',
          hint = 'Add a new row instead.';
end
$$;
`,
};
