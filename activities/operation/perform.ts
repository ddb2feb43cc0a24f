/**
 * `perform`: one effect at one outside system, made once however often it is asked for, or parked where that can't
 * be known.
 *
 * **Model.** Temporal remembers which activity results were recorded; it can't know what an outside system did when
 * one was not. So each effect has a row in the operations journal, written before the first send and before every
 * later one. Whoever comes next, in whichever process, reads there what may have happened and goes on by the
 * provider's class (`after-uncertain-send.ts`).
 *
 * **What a crash leaves.**
 * Before `submitting` is stored: `intended`, which proves that nothing was sent; the next call sends.
 * From then to the record of the answer: `submitting`, "may have been sent"; the next call asks, waits, repeats under
 * the same key, or parks. After the record: the stored receipt, and the provider isn't called at all.
 *
 * **Limit.** A provider without keys can't be protected from a sender that was paused just before its write and comes
 * back after everybody has looked. `perform` parks rather than send a second time beside a sender it can't account
 * for; it can't call back one that is already past its last check.
 *
 * ```ts
 * const { receipt } = await perform(
 *   { journal, provider: accounting, key, request: posting, projection: postingProjection },
 *   { attempt: info.attempt, worker: identity, signal: context.cancellationSignal },
 * );
 * ```
 */
import { advance } from "./advance.js";
import type { PerformCall, Performed } from "./call.js";
import { defaultPatienceMs, Patience, runtimeOf, type PerformContext } from "./context.js";
import { OutcomeUnknown } from "./errors.js";
import type { JsonValue } from "./json.js";
import { checkedOperationKey } from "./keys.js";
import { checkedPolicy } from "./policy.js";

/**
 * Makes the effect once.
 *
 * It goes forward in steps; after each it has an end, or a reason to wait and look again. It waits by itself for at
 * most `context.patienceMs`, and then leaves the waiting to the caller's retry policy.
 *
 * Cancellation stops it before `submitting`. After that it finishes and records within `context.graceMs`, and the
 * caller gets the true result.
 *
 * @throws `OperationConflict`, `OperationRefused`, `OperationFailedAtProvider`, `OperationFenced`, `OperationParked`
 *   (never to be retried), `OutcomeUnknown` (to be retried, after `retryAfterMs` if given); `InvalidOperationKey`
 *   and `InvalidProviderPolicy` before anything is done; what the journal throws when the database is out of reach.
 */
export async function perform<Request extends JsonValue, Receipt extends JsonValue>(
  call: PerformCall<Request, Receipt>,
  context: PerformContext,
): Promise<Performed<Receipt>> {
  checkedOperationKey(call.key);
  checkedPolicy(call.provider);
  const runtime = runtimeOf(context);
  const patience = new Patience(context.patienceMs ?? defaultPatienceMs, runtime);
  for (;;) {
    const step = await advance(call, runtime);
    if (step.step === "end") {
      return step.performed;
    }
    // Bounded: each wait takes from the patience, and a wait without a length ends it.
    if (!(await patience.wait(step.ms))) {
      throw new OutcomeUnknown(call.key, step.because, step.ms);
    }
  }
}
