import type { Migration } from "./migration.js";

/**
 * What the invoice process keeps beside the journal. A name of a payload is bound once and never again. A row of the
 * register is an invoice that is open or posted; giving it up removes the row.
 */
export const invoices: Migration = {
  name: "0050-invoices",
  breaking: false,
  sql: `
create table payload_names (
  name text primary key,
  digest text not null references payloads,
  bound_at timestamptz not null default ledger_now()
);
create trigger payload_names_stay before update or delete on payload_names
  for each row execute function ledger_refuse_change();
create trigger payload_names_are_not_truncated before truncate on payload_names
  for each statement execute function ledger_refuse_change();

create table invoice_register (
  processing_id text primary key,
  invoice_key text not null unique,
  tenant text not null,
  supplier_id text not null,
  invoice_number text not null,
  claimed_at timestamptz not null default ledger_now(),
  unique (tenant, supplier_id, invoice_number)
);
`,
};
