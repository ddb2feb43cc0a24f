import { sql } from "kysely";

import type { OpenRequest, OpenRequests, Page } from "../../../activities/sweeps/ports.js";
import type { Ledger } from "../database.js";
import { changeRequestState } from "../requests/change-state.js";

const kind = "invoice-batch";

export function createOpenRequests(ledger: Ledger): OpenRequests {
  return {
    page: (page) => pageOfOpenRequests(ledger, page),
    end: async (requestId, state, result) => {
      await changeRequestState(ledger, { requestId, to: state, result });
    },
  };
}

/**
 * Open requests, by id. One whose start message is still to be sent is the relay's, and one whose start can't be sent
 * is a person's; both would look as if their process had ended.
 *
 * ```sql
 * select … from requests r
 *   where kind = 'invoice-batch' and state in ('admitted', 'running', 'parked') and state_changed_at < ledger_now() - $1
 *     and request_id > $2
 *     and not exists (select from outbox where message_key = 'start:' || r.workflow_id and state <> 'sent')
 *   order by request_id limit $3
 * ```
 */
export async function pageOfOpenRequests(
  ledger: Ledger,
  { olderThanMs, after = "", limit }: Page,
): Promise<readonly OpenRequest[]> {
  const { rows } = await sql<OpenRequest>`
    select request_id as "requestId", workflow_id as "workflowId",
           array(select each ->> 'invoiceKey' from jsonb_array_elements(body -> 'invoices')
                 with ordinality as listed (each, place) order by place) as "invoiceKeys"
    from requests r
    where kind = ${kind} and state in ('admitted', 'running', 'parked')
      and state_changed_at < ledger_now() - ${olderThanMs}::float8 * interval '1 millisecond'
      and request_id > ${after}
      and not exists (select from outbox where message_key = 'start:' || r.workflow_id and state <> 'sent')
    order by request_id limit ${limit}`.execute(ledger);
  return rows;
}
