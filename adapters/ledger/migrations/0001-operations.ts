import type { Migration } from "./migration.js";

/**
 * The operations journal, the queue of what needs an answer, and the generations of owners.
 *
 * The constraints state what each state of an operation carries, so that a wrong statement fails here instead of
 * leaving a row that nobody can read. Times are `ledger_now()`.
 */
export const operations: Migration = {
  name: "0001-operations",
  breaking: false,
  sql: `
create table operations (
  key text primary key,
  provider text not null,
  state text not null check (state in (
    'intended', 'submitting', 'unknown', 'accepted', 'refused', 'parked', 'confirmed', 'failed-at-provider')),
  epoch integer not null check (epoch >= 1),
  try_number integer not null check (try_number >= 1),
  owner_id text,
  generation integer,
  submitted_at timestamptz,
  submitted_epoch integer,
  uncertain_since timestamptz,
  receipt jsonb,
  outcome text check (outcome in ('done', 'superseded')),
  operation_url text,
  poll_after_ms integer,
  refusal_code text,
  refusal_detail text,
  parked_reason text,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  check ((owner_id is null) = (generation is null)),
  check ((submitted_at is null) = (submitted_epoch is null)),
  check (state not in ('submitting', 'unknown', 'accepted', 'refused') or submitted_at is not null),
  check (state <> 'intended' or submitted_at is null),
  check (state <> 'confirmed' or (receipt is not null and outcome is not null)),
  check (state <> 'accepted' or (operation_url is not null and poll_after_ms is not null)),
  check (state not in ('refused', 'failed-at-provider') or (refusal_code is not null and refusal_detail is not null)),
  check ((state = 'parked') = (parked_reason is not null))
);

-- For a fence, which lists what its owner has open.
create index operations_of_owner on operations (owner_id) where owner_id is not null;

create table operation_tries (
  key text not null references operations,
  number integer not null check (number >= 1),
  provider_key text not null unique,
  fingerprint text not null,
  projection_version integer not null,
  repair integer not null check (repair >= 0),
  opened_for text not null check (opened_for in ('first', 'repair', 'proved-absent', 'answer')),
  opened_at timestamptz not null,
  first_submitted_at timestamptz,
  primary key (key, number)
);

create table operation_events (
  id bigint generated always as identity primary key,
  key text not null references operations,
  at timestamptz not null,
  verb text not null,
  state text not null,
  epoch integer not null,
  try_number integer not null,
  attempt integer,
  worker text not null,
  why text not null,
  detail jsonb
);

create index operation_events_of_key on operation_events (key, id);

create trigger operation_events_append_only before update or delete on operation_events
  for each row execute function ledger_refuse_change();
create trigger operation_events_never_emptied before truncate on operation_events
  for each statement execute function ledger_refuse_change();

create table recovery_queue (
  id bigint generated always as identity primary key,
  subject_kind text not null,
  subject text not null,
  reason text not null,
  evidence jsonb not null,
  answers text[] not null,
  opened_at timestamptz not null,
  answered_at timestamptz,
  answered_by text,
  answer_id text,
  answer jsonb,
  check ((answered_at is null) = (answered_by is null)),
  check ((answered_at is null) = (answer is null))
);

-- One open question about one thing.
create unique index recovery_queue_open on recovery_queue (subject_kind, subject) where answered_at is null;

create table generations (
  owner_id text primary key,
  generation integer not null check (generation >= 1),
  state text not null check (state in ('provisioning', 'activated', 'fenced')),
  changed_at timestamptz not null
);
`,
};
