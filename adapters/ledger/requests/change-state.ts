import { sql } from "kysely";

import type { JsonValue } from "../../../activities/operation/json.js";
import type { Ledger } from "../database.js";
import { storableJson } from "../json.js";
import type { RequestState } from "./tables.js";

/** From which states each state can be reached. `completed` and `failed` are ends. */
const reachableFrom: Readonly<Record<Exclude<RequestState, "admitted">, readonly RequestState[]>> = {
  running: ["admitted", "parked"],
  parked: ["admitted", "running"],
  completed: ["admitted", "running", "parked"],
  failed: ["admitted", "running", "parked"],
};

export type ChangeStateResult =
  | { readonly outcome: "changed" | "same" }
  /** The request is in a state from which the wanted one can't be reached, or isn't there (`state` is `undefined`). */
  | { readonly outcome: "stale"; readonly state: RequestState | undefined };

/**
 * Moves a request to another state, as one compare-and-set. Repeated, it gives `same`.
 *
 * ```sql
 * update requests set state = $2, result = coalesce($3, result), state_changed_at = ledger_now()
 *   where request_id = $1 and state = any($4)
 * ```
 *
 * @param change.result kept for whoever asks after Temporal has forgotten the workflow.
 */
export async function changeRequestState(
  ledger: Ledger,
  change: {
    readonly requestId: string;
    readonly to: Exclude<RequestState, "admitted">;
    readonly result?: JsonValue;
  },
): Promise<ChangeStateResult> {
  const { numUpdatedRows } = await ledger
    .updateTable("requests")
    .set({
      state: change.to,
      state_changed_at: sql<Date>`ledger_now()`,
      ...(change.result === undefined ? {} : { result: storableJson("result", change.result) }),
    })
    .where("request_id", "=", change.requestId)
    .where("state", "in", reachableFrom[change.to])
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) {
    return { outcome: "changed" };
  }
  const row = await ledger
    .selectFrom("requests")
    .select("state")
    .where("request_id", "=", change.requestId)
    .executeTakeFirst();
  return row?.state === change.to ? { outcome: "same" } : { outcome: "stale", state: row?.state };
}
