-- Made from the migrated database; never edited by hand.

create domain counted_from_one as integer constraint counted_from_one_check CHECK ((VALUE >= 1));

create domain counted_from_zero as integer constraint counted_from_zero_check CHECK ((VALUE >= 0));

create domain effect_outcome as text constraint effect_outcome_check CHECK ((VALUE = ANY (ARRAY['done'::text, 'superseded'::text])));

create domain operation_state as text constraint operation_state_check CHECK ((VALUE = ANY (ARRAY['intended'::text, 'submitting'::text, 'unknown'::text, 'accepted'::text, 'refused'::text, 'parked'::text, 'confirmed'::text, 'failed-at-provider'::text])));

create domain try_reason as text constraint try_reason_check CHECK ((VALUE = ANY (ARRAY['first'::text, 'repair'::text, 'proved-absent'::text, 'answer'::text])));

CREATE OR REPLACE FUNCTION public.ledger_keep_settled()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % refused: this row is settled as %', lower(tg_op), tg_table_name, old.state
    using errcode = 'integrity_constraint_violation';
end
$function$;

CREATE OR REPLACE FUNCTION public.ledger_notify_outbox()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('ledger_outbox', '');
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.ledger_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ select clock_timestamp() $function$;

CREATE OR REPLACE FUNCTION public.ledger_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % refused: its rows are never changed and never removed', lower(tg_op), tg_table_name
    using errcode = 'integrity_constraint_violation',
          hint = 'Add a new row instead.';
end
$function$;

CREATE OR REPLACE FUNCTION public.operation_is_whole(state text, owner_id text, generation integer, submitted_at timestamp with time zone, submitted_epoch integer, receipt jsonb, outcome text, operation_url text, poll_after_ms integer, refusal_code text, refusal_detail text, parked_reason text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return (owner_id is null) = (generation is null)
    and (submitted_at is null) = (submitted_epoch is null)
    and (state = 'parked') = (parked_reason is not null)
    and case state
          when 'intended' then submitted_at is null
          when 'submitting' then submitted_at is not null
          when 'unknown' then submitted_at is not null
          when 'accepted' then num_nulls(submitted_at, operation_url, poll_after_ms) = 0
          when 'refused' then num_nulls(submitted_at, refusal_code, refusal_detail) = 0
          when 'parked' then true
          when 'confirmed' then num_nulls(receipt, outcome) = 0
          when 'failed-at-provider' then num_nulls(refusal_code, refusal_detail) = 0
          else false
        end;
end
$function$;

create table generations (
  owner_id text not null,
  generation integer not null,
  state text not null,
  changed_at timestamp with time zone not null,
  constraint generations_generation_check CHECK ((generation >= 1)),
  constraint generations_pkey PRIMARY KEY (owner_id),
  constraint generations_state_check CHECK ((state = ANY (ARRAY['provisioning'::text, 'activated'::text, 'fenced'::text])))
);

create table inbox (
  source text not null,
  event_id text not null,
  subject text not null,
  body_digest text not null,
  body jsonb not null,
  state text not null default 'received'::text,
  available_at timestamp with time zone not null default ledger_now(),
  claims integer not null default 0,
  owner text,
  leased_until timestamp with time zone,
  consequence jsonb,
  received_at timestamp with time zone not null default ledger_now(),
  settled_at timestamp with time zone,
  constraint inbox_check CHECK (((owner IS NULL) = (leased_until IS NULL))),
  constraint inbox_check1 CHECK (((state = 'received'::text) = (settled_at IS NULL))),
  constraint inbox_pkey PRIMARY KEY (source, event_id),
  constraint inbox_state_check CHECK ((state = ANY (ARRAY['received'::text, 'done'::text, 'ignored'::text])))
);
CREATE INDEX inbox_by_subject ON public.inbox USING btree (source, subject);
CREATE INDEX inbox_received ON public.inbox USING btree (source, received_at) WHERE (state = 'received'::text);
CREATE TRIGGER inbox_keeps_settled BEFORE UPDATE ON public.inbox FOR EACH ROW WHEN ((old.state <> 'received'::text)) EXECUTE FUNCTION ledger_keep_settled();
CREATE TRIGGER inbox_stays_as_received BEFORE UPDATE OF source, event_id, subject, body_digest, body, received_at ON public.inbox FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

create table invoice_register (
  processing_id text not null,
  invoice_key text not null,
  tenant text not null,
  supplier_id text not null,
  invoice_number text not null,
  claimed_at timestamp with time zone not null default ledger_now(),
  constraint invoice_register_invoice_key_key UNIQUE (invoice_key),
  constraint invoice_register_pkey PRIMARY KEY (processing_id),
  constraint invoice_register_tenant_supplier_id_invoice_number_key UNIQUE (tenant, supplier_id, invoice_number)
);

create table ledger_migrations (
  number integer not null,
  name text not null,
  breaking boolean not null,
  digest text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint ledger_migrations_name_key UNIQUE (name),
  constraint ledger_migrations_pkey PRIMARY KEY (number)
);

create table operation_events (
  id bigint not null generated always as identity,
  key text not null,
  at timestamp with time zone not null,
  verb text not null,
  state text not null,
  epoch integer not null,
  try_number integer not null,
  attempt integer,
  worker text not null,
  why text not null,
  detail jsonb,
  constraint operation_events_key_fkey FOREIGN KEY (key) REFERENCES operations(key),
  constraint operation_events_pkey PRIMARY KEY (key, id)
);
CREATE TRIGGER operation_events_append_only BEFORE DELETE OR UPDATE ON public.operation_events FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER operation_events_never_emptied BEFORE TRUNCATE ON public.operation_events FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

create table operation_tries (
  key text not null,
  number counted_from_one not null,
  provider_key text not null,
  fingerprint text not null,
  projection_version integer not null,
  repair counted_from_zero not null,
  opened_for try_reason not null,
  opened_at timestamp with time zone not null,
  first_submitted_at timestamp with time zone,
  constraint operation_tries_key_fkey FOREIGN KEY (key) REFERENCES operations(key),
  constraint operation_tries_pkey PRIMARY KEY (key, number),
  constraint operation_tries_provider_key_key UNIQUE (provider_key)
);

create table operations (
  key text not null,
  provider text not null,
  state operation_state not null,
  epoch counted_from_one not null,
  try_number counted_from_one not null,
  owner_id text,
  generation integer,
  submitted_at timestamp with time zone,
  submitted_epoch integer,
  uncertain_since timestamp with time zone,
  receipt jsonb,
  outcome effect_outcome,
  operation_url text,
  poll_after_ms integer,
  refusal_code text,
  refusal_detail text,
  parked_reason text,
  created_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint operations_pkey PRIMARY KEY (key),
  constraint operations_whole CHECK (operation_is_whole((state)::text, owner_id, generation, submitted_at, submitted_epoch, receipt, (outcome)::text, operation_url, poll_after_ms, refusal_code, refusal_detail, parked_reason))
);
CREATE INDEX operations_of_owner ON public.operations USING btree (owner_id) WHERE (owner_id IS NOT NULL);

create table outbox (
  id bigint not null generated always as identity,
  message_key text not null,
  kind text not null,
  ordering_key text not null,
  body jsonb not null,
  state text not null default 'pending'::text,
  available_at timestamp with time zone not null default ledger_now(),
  claims integer not null default 0,
  owner text,
  leased_until timestamp with time zone,
  last_error text,
  outcome jsonb,
  enqueued_at timestamp with time zone not null default ledger_now(),
  settled_at timestamp with time zone,
  constraint outbox_check CHECK (((owner IS NULL) = (leased_until IS NULL))),
  constraint outbox_check1 CHECK (((state = 'pending'::text) = (settled_at IS NULL))),
  constraint outbox_kind_check CHECK ((kind = ANY (ARRAY['start'::text, 'signal'::text, 'signalWithStart'::text, 'mail'::text]))),
  constraint outbox_message_key_key UNIQUE (message_key),
  constraint outbox_pkey PRIMARY KEY (id),
  constraint outbox_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sent'::text, 'failed'::text])))
);
CREATE INDEX outbox_pending ON public.outbox USING btree (id) WHERE (state = 'pending'::text);
CREATE INDEX outbox_pending_in_order ON public.outbox USING btree (ordering_key, id) WHERE (state = 'pending'::text);
CREATE TRIGGER outbox_keeps_settled BEFORE UPDATE ON public.outbox FOR EACH ROW WHEN ((old.state <> 'pending'::text)) EXECUTE FUNCTION ledger_keep_settled();
CREATE TRIGGER outbox_notifies AFTER INSERT ON public.outbox FOR EACH STATEMENT EXECUTE FUNCTION ledger_notify_outbox();

create table payload_names (
  name text not null,
  digest text not null,
  bound_at timestamp with time zone not null default ledger_now(),
  constraint payload_names_digest_fkey FOREIGN KEY (digest) REFERENCES payloads(digest),
  constraint payload_names_pkey PRIMARY KEY (name)
);
CREATE TRIGGER payload_names_are_not_truncated BEFORE TRUNCATE ON public.payload_names FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER payload_names_stay BEFORE DELETE OR UPDATE ON public.payload_names FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

create table payloads (
  digest text not null,
  kind text not null,
  content text not null,
  stored_at timestamp with time zone not null default ledger_now(),
  constraint payloads_check CHECK ((digest = encode(sha256(convert_to(content, 'UTF8'::name)), 'hex'::text))),
  constraint payloads_kind_check CHECK ((kind <> ''::text)),
  constraint payloads_pkey PRIMARY KEY (digest)
);
CREATE TRIGGER payloads_are_immutable BEFORE DELETE OR UPDATE ON public.payloads FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER payloads_are_not_truncated BEFORE TRUNCATE ON public.payloads FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

create table recovery_queue (
  id bigint not null generated always as identity,
  subject_kind text not null,
  subject text not null,
  reason text not null,
  evidence jsonb not null,
  answers text[] not null,
  opened_at timestamp with time zone not null,
  answered_at timestamp with time zone,
  answered_by text,
  answer_id text,
  answer jsonb,
  constraint recovery_queue_check CHECK (((answered_at IS NULL) = (answered_by IS NULL))),
  constraint recovery_queue_check1 CHECK (((answered_at IS NULL) = (answer IS NULL))),
  constraint recovery_queue_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX recovery_queue_open ON public.recovery_queue USING btree (subject_kind, subject) WHERE (answered_at IS NULL);

create table requests (
  request_id text not null,
  caller text not null,
  idempotency_key text not null,
  kind text not null,
  tenant text not null,
  fingerprint text not null,
  workflow_id text not null,
  body jsonb not null,
  state text not null default 'admitted'::text,
  result jsonb,
  admitted_at timestamp with time zone not null default ledger_now(),
  state_changed_at timestamp with time zone not null default ledger_now(),
  constraint requests_caller_idempotency_key_key UNIQUE (caller, idempotency_key),
  constraint requests_pkey PRIMARY KEY (request_id),
  constraint requests_state_check CHECK ((state = ANY (ARRAY['admitted'::text, 'running'::text, 'parked'::text, 'completed'::text, 'failed'::text])))
);
CREATE INDEX requests_by_age ON public.requests USING btree (state, state_changed_at);
CREATE INDEX requests_open ON public.requests USING btree (kind, tenant) WHERE (state <> ALL (ARRAY['completed'::text, 'failed'::text]));
CREATE TRIGGER requests_are_not_truncated BEFORE TRUNCATE ON public.requests FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER requests_stay BEFORE DELETE ON public.requests FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER requests_stay_as_admitted BEFORE UPDATE OF request_id, caller, idempotency_key, kind, tenant, fingerprint, workflow_id, body, admitted_at ON public.requests FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

create table ticket_votes (
  ticket_id text not null,
  decision_id text not null,
  voter text not null,
  decision text not null,
  revision integer not null,
  fingerprint text not null,
  counted boolean not null,
  answer jsonb not null,
  voted_at timestamp with time zone not null default ledger_now(),
  constraint ticket_votes_decision_check CHECK ((decision = ANY (ARRAY['approve'::text, 'reject'::text]))),
  constraint ticket_votes_pkey PRIMARY KEY (ticket_id, decision_id),
  constraint ticket_votes_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES tickets(ticket_id)
);
CREATE UNIQUE INDEX ticket_votes_count_once ON public.ticket_votes USING btree (ticket_id, voter) WHERE counted;
CREATE TRIGGER ticket_votes_are_append_only BEFORE DELETE OR UPDATE ON public.ticket_votes FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ticket_votes_are_not_truncated BEFORE TRUNCATE ON public.ticket_votes FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

create table tickets (
  ticket_id text not null,
  kind text not null,
  tenant text not null,
  subject text not null,
  revision integer not null,
  fingerprint text not null,
  payload_digest text not null,
  workflow_id text not null,
  approvals_needed integer not null,
  excluded_voters text[] not null default '{}'::text[],
  deadline_at timestamp with time zone not null,
  opened_at timestamp with time zone not null default ledger_now(),
  state text not null default 'open'::text,
  closed_at timestamp with time zone,
  constraint tickets_approvals_needed_check CHECK ((approvals_needed > 0)),
  constraint tickets_check CHECK (((state = 'open'::text) = (closed_at IS NULL))),
  constraint tickets_payload_digest_fkey FOREIGN KEY (payload_digest) REFERENCES payloads(digest),
  constraint tickets_pkey PRIMARY KEY (ticket_id),
  constraint tickets_revision_check CHECK ((revision > 0)),
  constraint tickets_state_check CHECK ((state = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'withdrawn'::text])))
);
CREATE INDEX tickets_open ON public.tickets USING btree (tenant, deadline_at) WHERE (state = 'open'::text);
CREATE TRIGGER tickets_are_not_truncated BEFORE TRUNCATE ON public.tickets FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER tickets_keep_their_end BEFORE UPDATE ON public.tickets FOR EACH ROW WHEN ((old.state <> 'open'::text)) EXECUTE FUNCTION ledger_keep_settled();
CREATE TRIGGER tickets_stay BEFORE DELETE ON public.tickets FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER tickets_stay_as_opened BEFORE UPDATE OF ticket_id, kind, tenant, subject, revision, fingerprint, payload_digest, workflow_id, approvals_needed, excluded_voters, deadline_at, opened_at ON public.tickets FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
