import type { Migration } from "./migration.js";

/** Immutable content by digest. The database itself checks the digest, so no writer can store a wrong one. */
export const payloads: Migration = {
  name: "0002-payloads",
  breaking: false,
  sql: `
create table payloads (
  digest text primary key
    check (digest = encode(sha256(convert_to(content, 'UTF8')), 'hex')),
  kind text not null check (kind <> ''),
  content text not null,
  stored_at timestamptz not null default ledger_now()
);
create trigger payloads_are_immutable before update or delete on payloads
  for each row execute function ledger_refuse_change();
create trigger payloads_are_not_truncated before truncate on payloads
  for each statement execute function ledger_refuse_change();
`,
};
