import type { RequestBook } from "../../../activities/invoice-approval/ports.js";
import type { Ledger } from "../database.js";
import { changeRequestState } from "../requests/change-state.js";

/**
 * The requests of invoice batches. A result of `stale` is fine: a batch that was reset says "running" once more after
 * its request has been completed, and the first end stands.
 */
export function createRequestBook(ledger: Ledger): RequestBook {
  return {
    move: async ({ requestId, state, result }) => {
      await changeRequestState(ledger, {
        requestId,
        to: state,
        ...(result === undefined ? {} : { result }),
      });
    },
  };
}
