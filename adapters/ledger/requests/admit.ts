import type { JsonValue } from "../../../activities/operation/json.js";
import type { LedgerTransaction } from "../database.js";
import { digestOf, storableJson } from "../json.js";
import type { RequestState } from "./tables.js";

export interface Admission {
  /** Made by whoever admits; taken only when the request is new. */
  readonly requestId: string;
  readonly caller: string;
  readonly idempotencyKey: string;
  readonly kind: string;
  readonly tenant: string;
  readonly workflowId: string;
  readonly body: JsonValue;
}

export type AdmitResult =
  /** Stored. The start's outbox row belongs in the same transaction. */
  | { readonly outcome: "admitted"; readonly requestId: string; readonly fingerprint: string }
  /** The same caller asked for the same before; this is that request. */
  | {
      readonly outcome: "existing";
      readonly requestId: string;
      readonly workflowId: string;
      readonly state: RequestState;
      readonly fingerprint: string;
    }
  /** The key stands for another body; nothing was stored. */
  | {
      readonly outcome: "conflict";
      readonly requestId: string;
      readonly storedFingerprint: string;
      readonly offeredFingerprint: string;
    };

/**
 * Admits a request once for each (caller, idempotency key). A rival with the same key waits at the unique index
 * until the first one has committed, and then gets the first one's request.
 *
 * ```sql
 * insert into requests (request_id, caller, idempotency_key, …) values (…)
 *   on conflict do nothing returning request_id;
 * -- no row: the key is taken
 * select … from requests where caller = $1 and idempotency_key = $2;
 * ```
 *
 * No index is named in the conflict: where the id is made from caller and key, two at once meet at either of the two
 * unique indexes, and at one that isn't named the second of them would fail instead of waiting.
 *
 * It takes a transaction, because an admitted request without its start message would never run.
 *
 * @throws `NotStorable` when the body isn't JSON.
 */
export async function admit(transaction: LedgerTransaction, admission: Admission): Promise<AdmitResult> {
  const fingerprint = digestOf("body", admission.body);
  const inserted = await transaction
    .insertInto("requests")
    .values({
      request_id: admission.requestId,
      caller: admission.caller,
      idempotency_key: admission.idempotencyKey,
      kind: admission.kind,
      tenant: admission.tenant,
      fingerprint,
      workflow_id: admission.workflowId,
      body: storableJson("body", admission.body),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("request_id")
    .executeTakeFirst();
  if (inserted !== undefined) {
    return { outcome: "admitted", requestId: inserted.request_id, fingerprint };
  }
  const stored = await transaction
    .selectFrom("requests")
    .select(["request_id", "workflow_id", "state", "fingerprint", "kind"])
    .where("caller", "=", admission.caller)
    .where("idempotency_key", "=", admission.idempotencyKey)
    .executeTakeFirstOrThrow();
  // A request for another process under the same key is another request, even with the same body.
  return stored.fingerprint === fingerprint && stored.kind === admission.kind
    ? {
        outcome: "existing",
        requestId: stored.request_id,
        workflowId: stored.workflow_id,
        state: stored.state,
        fingerprint,
      }
    : {
        outcome: "conflict",
        requestId: stored.request_id,
        storedFingerprint: stored.fingerprint,
        offeredFingerprint: fingerprint,
      };
}
