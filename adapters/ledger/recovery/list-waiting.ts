/**
 * What waits longer than it should and isn't a question: nobody can answer it, but somebody should know. Each of these
 * ends by itself once a process that should be there is there again.
 */
import { sql, type RawBuilder } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";

export interface Waiting {
  /** `request:<id>`, `message:<id>`, `ticket:<id>`, `event:<source>/<id>`, `operation:<key>`. */
  readonly id: string;
  readonly kind: "request" | "message" | "ticket" | "event" | "operation";
  readonly subject: string;
  readonly reason: string;
  readonly evidence: JsonValue;
  readonly ageMs: number;
  /** What helps. */
  readonly advice: string;
}

/** Most of each kind: a screen for a person, not an export. */
const listedMax = 200;

interface Finder {
  readonly kind: Waiting["kind"];
  readonly advice: string;
  /** Columns: `id`, `subject`, `reason`, `evidence`, `since`. */
  readonly rows: (before: RawBuilder<Date>) => RawBuilder<unknown>;
}

const finders: readonly Finder[] = [
  {
    kind: "operation",
    advice:
      "Nothing to answer yet: its process is at it, or the sweep will ask when that has ended. A refused one is over: " +
      "nothing was posted, hand in a corrected revision.",
    rows: (before) => sql`
      select 'operation:' || o.key as id, o.key as subject, o.state as reason, o.changed_at as since,
             jsonb_build_object('provider', o.provider, 'try', o.try_number, 'submittedAt', o.submitted_at,
                                'refusalCode', o.refusal_code, 'refusalDetail', o.refusal_detail) as evidence
      from operations o
      where (o.state in ('intended', 'submitting', 'unknown', 'accepted') and o.changed_at < ${before})
         or (o.state = 'refused' and not exists (
               select from recovery_queue q
               where q.subject_kind = 'invoice' and q.subject = regexp_replace(o.key, ':post$', '')
                 and q.answered_at >= o.changed_at))`,
  },
  {
    kind: "request",
    advice:
      "Nothing to answer: it needs a relay that starts it and a worker that takes it; the sweep ends it when its process has ended.",
    rows: (before) => sql`
      select 'request:' || request_id as id, workflow_id as subject, state as reason, state_changed_at as since,
             jsonb_build_object('tenant', tenant, 'kind', kind, 'caller', caller) as evidence
      from requests where state = 'admitted' and state_changed_at < ${before}`,
  },
  {
    kind: "message",
    advice: "Nothing to answer: it is sent as soon as a relay runs and its receiver answers.",
    rows: (before) => sql`
      select 'message:' || id as id, message_key as subject, 'pending' as reason, enqueued_at as since,
             jsonb_build_object('kind', kind, 'claims', claims, 'lastError', last_error, 'owner', owner,
                                'leasedUntil', leased_until) as evidence
      from outbox where state = 'pending' and enqueued_at < ${before}`,
  },
  {
    kind: "ticket",
    advice: "Nothing to answer: its deadline has passed, and its process or the next sweep closes it.",
    rows: (before) => sql`
      select 'ticket:' || ticket_id as id, subject, 'overdue' as reason, deadline_at as since,
             jsonb_build_object('tenant', tenant, 'workflowId', workflow_id, 'kind', kind) as evidence
      from tickets where state = 'open' and deadline_at < ${before}`,
  },
  {
    kind: "event",
    advice: "Nothing to answer: it is dealt with as soon as its dispatcher runs.",
    rows: (before) => sql`
      select 'event:' || source || '/' || event_id as id, subject, 'received' as reason, received_at as since,
             jsonb_build_object('source', source, 'claims', claims, 'owner', owner, 'leasedUntil', leased_until) as evidence
      from inbox where state = 'received' and received_at < ${before}`,
  },
];

/**
 * @param olderThanMs what has waited less is on its way
 *
 * ```sql
 * select … from operations | requests | outbox | tickets | inbox where … and <since> < ledger_now() - $1
 *   order by <since> limit 200
 * ```
 */
export async function listWaiting(ledger: Ledger, olderThanMs: number): Promise<readonly Waiting[]> {
  const before = sql<Date>`(ledger_now() - ${olderThanMs}::float8 * interval '1 millisecond')`;
  const found: Waiting[] = [];
  for (const { kind, advice, rows } of finders) {
    const result = await sql<Omit<Waiting, "kind" | "advice">>`
      select id, subject, reason, evidence,
             greatest(0, extract(epoch from ledger_now() - since) * 1000)::bigint as "ageMs"
      from (${rows(before)}) as found order by since limit ${listedMax}`.execute(ledger);
    found.push(...result.rows.map((row) => ({ ...row, kind, advice })));
  }
  return found;
}
