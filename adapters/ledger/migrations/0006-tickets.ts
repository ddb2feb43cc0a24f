import type { Migration } from "./migration.js";

/** Decisions of people. What is decided on can't be changed after opening, and an end can't be undone. */
export const tickets: Migration = {
  name: "0006-tickets",
  breaking: false,
  sql: `
create table tickets (
  ticket_id text primary key,
  kind text not null,
  tenant text not null,
  subject text not null,
  revision integer not null check (revision > 0),
  fingerprint text not null,
  payload_digest text not null references payloads (digest),
  workflow_id text not null,
  approvals_needed integer not null check (approvals_needed > 0),
  excluded_voters text[] not null default '{}',
  deadline_at timestamptz not null,
  opened_at timestamptz not null default ledger_now(),
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'expired')),
  closed_at timestamptz,
  check ((state = 'open') = (closed_at is null))
);
create index tickets_open on tickets (tenant, deadline_at) where state = 'open';
create trigger tickets_stay_as_opened
  before update of ticket_id, kind, tenant, subject, revision, fingerprint, payload_digest, workflow_id,
    approvals_needed, excluded_voters, deadline_at, opened_at
  on tickets for each row execute function ledger_refuse_change();
create trigger tickets_keep_their_end before update on tickets
  for each row when (old.state <> 'open') execute function ledger_keep_settled();
create trigger tickets_stay before delete on tickets
  for each row execute function ledger_refuse_change();
create trigger tickets_are_not_truncated before truncate on tickets
  for each statement execute function ledger_refuse_change();

create table ticket_votes (
  ticket_id text not null references tickets (ticket_id),
  decision_id text not null,
  voter text not null,
  decision text not null check (decision in ('approve', 'reject')),
  revision integer not null,
  fingerprint text not null,
  counted boolean not null,
  answer jsonb not null,
  voted_at timestamptz not null default ledger_now(),
  primary key (ticket_id, decision_id)
);
create unique index ticket_votes_count_once on ticket_votes (ticket_id, voter) where counted;
create trigger ticket_votes_are_append_only before update or delete on ticket_votes
  for each row execute function ledger_refuse_change();
create trigger ticket_votes_are_not_truncated before truncate on ticket_votes
  for each statement execute function ledger_refuse_change();
`,
};
