/**
 * The last look before a send. `submitting` is stored, and between that and this line the process can have been
 * paused: by a stopped machine, a full disk, a debugger. What was true when it was decided may not be true any more.
 *
 * What is left after it is the pause between this look and the write to the socket, which nothing on this side can
 * see.
 */
import { keyIsAlive } from "./after-uncertain-send.js";
import type { ProviderPolicy } from "./provider.js";

export interface BeforeSend {
  readonly policy: ProviderPolicy;
  /** When the provider can have seen the key first; equal to `submittedAt` for a first send. Ledger's clock. */
  readonly firstSubmittedAt: number;
  /** Ledger's clock. */
  readonly submittedAt: number;
  /** How long it took from asking the ledger to this look, by a clock of this process that never goes back. */
  readonly heldUpForMs: number;
}

/**
 * The part of `settleMs` that may pass between the record and the send. Others count `settleMs` from the record, so
 * what passes here is missing there; a tenth is little beside any commit latency.
 */
const heldUpPart = 0.1;

/** An ordinary statement of a busy database takes less; without this floor a small `settleMs` would never send. */
const heldUpMsMin = 100;

/** May what was decided still be sent? If not, it counts as perhaps sent, and is decided anew. */
export function isStillSendable({ policy, firstSubmittedAt, submittedAt, heldUpForMs }: BeforeSend): boolean {
  if (policy.honoursKeys && policy.keysLiveForMs === null) {
    return true; // however late, it is the same request to the provider
  }
  const isFirst = firstSubmittedAt === submittedAt;
  if (policy.honoursKeys && !isFirst && !keyIsAlive(policy, firstSubmittedAt, submittedAt)) {
    return false;
  }
  return heldUpForMs <= Math.max(heldUpMsMin, policy.settleMs * heldUpPart);
}
