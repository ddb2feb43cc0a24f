/** The world's tables: the state of the outside systems, and the journal that the judge reads. */
import pg from "pg";

export const tables = `
create table if not exists postings (
  entry_number bigint generated always as identity primary key,
  invoice_key text not null,
  revision integer not null,
  supplier_id text not null,
  invoice_number text not null,
  currency text not null,
  amount_minor bigint not null,
  payload_digest text not null,
  -- 'client': by request; 'manual': entered by hand on the other company's side.
  origin text not null check (origin in ('client', 'manual')),
  committed_at timestamptz not null default clock_timestamp()
);
-- Not unique: this system takes a second posting when it is asked for one, as many do.
create index if not exists postings_by_invoice_key on postings (invoice_key);
create index if not exists postings_by_number on postings (supplier_id, invoice_number);

create table if not exists messages (
  message_number bigint generated always as identity primary key,
  reference text not null,
  recipient text not null,
  subject text not null,
  body text not null,
  committed_at timestamptz not null default clock_timestamp()
);

create table if not exists documents (
  document_id text primary key,
  media_type text not null,
  bytes bytea not null
);

create table if not exists idempotency_records (
  system text not null,
  key text not null,
  request_digest text not null,
  status integer not null,
  media_type text not null,
  answer text not null,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (system, key)
);

create table if not exists journal (
  seq bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  system text not null,
  operation text not null,
  kind text not null check (kind in ('received', 'committed', 'answered', 'dropped')),
  request_id uuid not null,
  business_key text not null,
  idempotency_key text,
  digest text not null,
  content jsonb not null,
  status integer,
  faults text[] not null
);
create index if not exists journal_by_business_key on journal (business_key);

create or replace function journal_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the journal is append-only: % is refused', tg_op using errcode = 'insufficient_privilege';
end $$;
create or replace trigger journal_append_only
  before update or delete or truncate on journal
  for each statement execute function journal_is_append_only();
`;

/** Rights follow from what each role is for; whatever isn't named here is refused. */
export function grants(names: { database: string; writer: string; judge: string }): string {
  const database = pg.escapeIdentifier(names.database);
  const writer = pg.escapeIdentifier(names.writer);
  const judge = pg.escapeIdentifier(names.judge);
  return `
revoke all on database ${database} from public;
grant connect on database ${database} to ${writer}, ${judge};
revoke create on schema public from public;
grant usage on schema public to ${writer}, ${judge};
grant select, insert on postings, messages to ${writer};
grant select, insert, update on documents to ${writer};
grant select, insert, delete on idempotency_records to ${writer};
grant insert on journal to ${writer};
grant select on journal to ${judge};
`;
}
