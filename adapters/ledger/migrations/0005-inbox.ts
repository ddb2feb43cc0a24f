import type { Migration } from "./migration.js";

/** Events from outside, stored before they are acknowledged. */
export const inbox: Migration = {
  name: "0005-inbox",
  breaking: false,
  sql: `
create table inbox (
  source text not null,
  event_id text not null,
  subject text not null,
  body_digest text not null,
  body jsonb not null,
  state text not null default 'received' check (state in ('received', 'done', 'ignored')),
  available_at timestamptz not null default ledger_now(),
  claims integer not null default 0,
  owner text,
  leased_until timestamptz,
  consequence jsonb,
  received_at timestamptz not null default ledger_now(),
  settled_at timestamptz,
  primary key (source, event_id),
  check ((owner is null) = (leased_until is null)),
  check ((state = 'received') = (settled_at is null))
);
create index inbox_received on inbox (source, received_at) where state = 'received';
create index inbox_by_subject on inbox (source, subject);
create trigger inbox_keeps_settled before update on inbox
  for each row when (old.state <> 'received') execute function ledger_keep_settled();
create trigger inbox_stays_as_received
  before update of source, event_id, subject, body_digest, body, received_at
  on inbox for each row execute function ledger_refuse_change();
`,
};
