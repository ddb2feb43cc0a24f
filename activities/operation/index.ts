/**
 * Effects that happen once: `perform` and what belongs to it. Public as `killproof/operation`; the journal that it
 * writes to is in `killproof/ledger` (`createOperationJournal`).
 *
 * Start with `perform.ts`, then `states.ts` (every change and its guard) and `after-uncertain-send.ts` (what follows
 * when an answer was lost).
 */
export { perform } from "./perform.js";
export { finishAccepted, type AcceptedEnd } from "./finish-accepted.js";
export type { PerformCall, Performed } from "./call.js";
export type { PerformContext } from "./context.js";
export {
  OperationConflict,
  OperationError,
  OperationFailedAtProvider,
  OperationFenced,
  OperationParked,
  OperationRefused,
  OutcomeUnknown,
} from "./errors.js";
export { asApplicationFailure } from "./as-application-failure.js";
export {
  checkedOperationKey,
  InvalidOperationKey,
  operationKey,
  providerKeyOf,
  type OperationKeyParts,
} from "./keys.js";
export { fingerprintOf, type BusinessProjection, type Fingerprint } from "./fingerprint.js";
export { operationStates, statesBefore, transitions, type OperationState } from "./states.js";
export { afterUncertainSend, type Decision, type UncertainSend } from "./after-uncertain-send.js";
export { InvalidProviderPolicy } from "./policy.js";
export type * from "./journal.js";
export type * from "./provider.js";
export type { JsonValue } from "./json.js";
