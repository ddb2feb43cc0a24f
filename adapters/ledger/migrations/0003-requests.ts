import type { Migration } from "./migration.js";

/** Admitted requests. The triggers keep the admitted part as it was admitted. */
export const requests: Migration = {
  name: "0003-requests",
  breaking: false,
  sql: `
create table requests (
  request_id text primary key,
  caller text not null,
  idempotency_key text not null,
  kind text not null,
  tenant text not null,
  fingerprint text not null,
  workflow_id text not null,
  body jsonb not null,
  state text not null default 'admitted'
    check (state in ('admitted', 'running', 'parked', 'completed', 'failed')),
  result jsonb,
  admitted_at timestamptz not null default ledger_now(),
  state_changed_at timestamptz not null default ledger_now(),
  unique (caller, idempotency_key)
);
create index requests_open on requests (kind, tenant) where state not in ('completed', 'failed');
create index requests_by_age on requests (state, state_changed_at);
create trigger requests_stay_as_admitted
  before update of request_id, caller, idempotency_key, kind, tenant, fingerprint, workflow_id, body, admitted_at
  on requests for each row execute function ledger_refuse_change();
create trigger requests_stay before delete on requests
  for each row execute function ledger_refuse_change();
create trigger requests_are_not_truncated before truncate on requests
  for each statement execute function ledger_refuse_change();
`,
};
