import type { Migration } from "./migration.js";

/**
 * Messages that are written in the transaction that decides them. The notification is made by the table itself,
 * so that no writer can forget it; it comes with the commit, and only wakes: the relay polls all the same.
 */
export const outbox: Migration = {
  name: "0004-outbox",
  breaking: false,
  sql: `
create table outbox (
  id bigint generated always as identity primary key,
  message_key text not null unique,
  kind text not null check (kind in ('start', 'signal', 'signalWithStart', 'mail')),
  ordering_key text not null,
  body jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'sent', 'failed')),
  available_at timestamptz not null default ledger_now(),
  claims integer not null default 0,
  owner text,
  leased_until timestamptz,
  last_error text,
  outcome jsonb,
  enqueued_at timestamptz not null default ledger_now(),
  settled_at timestamptz,
  check ((owner is null) = (leased_until is null)),
  check ((state = 'pending') = (settled_at is null))
);
create index outbox_pending_in_order on outbox (ordering_key, id) where state = 'pending';
create index outbox_pending on outbox (id) where state = 'pending';

create function ledger_notify_outbox() returns trigger
  language plpgsql
  as $$
begin
  perform pg_notify('ledger_outbox', '');
  return null;
end
$$;
create trigger outbox_notifies after insert on outbox
  for each statement execute function ledger_notify_outbox();

create function ledger_keep_settled() returns trigger
  language plpgsql
  as $$
begin
  raise exception '% of % refused: this row is settled as %', lower(tg_op), tg_table_name, old.state
    using errcode = 'integrity_constraint_violation';
end
$$;
create trigger outbox_keeps_settled before update on outbox
  for each row when (old.state <> 'pending') execute function ledger_keep_settled();
`,
};
