import type { PayloadStore } from "../../../activities/ports.js";
import type { Ledger } from "../database.js";
import { getPayload } from "./get-payload.js";
import { putPayload } from "./put-payload.js";

/** The activities' `PayloadStore` on the ledger. Both calls may be repeated at will. */
export function createPayloadStore(ledger: Ledger): PayloadStore {
  return {
    put: (kind, value) => putPayload(ledger, kind, value),
    get: (digest) => getPayload(ledger, digest),
  };
}
