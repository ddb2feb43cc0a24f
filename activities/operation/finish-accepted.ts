/** The end of a long-running operation that a provider took on. */
import { storedReceipt, storedResult } from "./record.js";
import type { Performed } from "./call.js";
import { OperationFailedAtProvider, OperationParked } from "./errors.js";
import { storableText } from "./storable.js";
import type { Entrant, OperationJournal, Refusal } from "./journal.js";
import type { JsonValue } from "./json.js";

/** What asking at the `operationUrl` gave. Anything but an end is the caller's to ask about again. */
export type AcceptedEnd<Receipt extends JsonValue> =
  { readonly end: "done"; readonly receipt: Receipt } | ({ readonly end: "failed" } & Refusal);

/**
 * Records how an accepted operation ended. Both ends are facts of the provider, so any entrant may store them, and
 * storing the same one again changes nothing.
 *
 * A crash before the record leaves `accepted`, and the provider is asked again; after it, the stored end.
 *
 * @throws `OperationFailedAtProvider` for a failure; `OperationParked` when another receipt is stored already;
 *   `Error` when the key has no operation.
 */
export async function finishAccepted<Receipt extends JsonValue>(
  journal: OperationJournal,
  key: string,
  operationUrl: string,
  end: AcceptedEnd<Receipt>,
  entrant: Entrant,
): Promise<Performed<Receipt>> {
  const operation = await journal.read(key);
  if (operation === null) {
    throw new Error(`${key}: no such operation.`);
  }
  if (end.end === "failed") {
    const refusal = { code: storableText(end.code), detail: storableText(end.detail) };
    const failed = await journal.failAtProvider({
      ...entrant,
      key,
      operationUrl,
      ...refusal,
    });
    if (failed.result === "failed-at-provider") {
      throw new OperationFailedAtProvider(key, refusal);
    }
    return ended(journal, key);
  }
  const stored = await journal.confirm({
    ...entrant,
    key,
    epoch: operation.epoch,
    tryNumber: operation.try.number,
    receipt: end.receipt,
    outcome: "done",
  });
  if (stored.result === "parked") {
    throw new OperationParked(key, stored.operation.parkedFor!);
  }
  return storedReceipt(stored.operation);
}

/** Somebody else's end was there first: it counts. */
async function ended<Receipt extends JsonValue>(
  journal: OperationJournal,
  key: string,
): Promise<Performed<Receipt>> {
  const operation = await journal.read(key);
  if (operation?.state === "confirmed") {
    return storedResult(operation);
  }
  if (operation?.state === "parked") {
    throw new OperationParked(key, operation.parkedFor!);
  }
  throw new Error(
    `${key}: is ${operation?.state ?? "gone"}, not a long-running operation with this address.`,
  );
}
