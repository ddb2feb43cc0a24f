import { ApplicationFailure } from "@temporalio/common";

import { OperationError, OutcomeUnknown } from "./errors.js";

/**
 * What an activity throws so that Temporal does the right thing: the failure's type is the name in the failure
 * catalogue, it is retried only when it may be, and an unknown outcome comes back when asking can tell more
 * (`nextRetryDelay`, in milliseconds). Anything else is returned as it is, cancellations too.
 *
 * ```ts
 * try { return await perform(call, context); } catch (error) { throw asApplicationFailure(error); }
 * ```
 */
export function asApplicationFailure(error: unknown): unknown {
  if (!(error instanceof OperationError)) {
    return error;
  }
  const retryAfterMs = error instanceof OutcomeUnknown ? error.retryAfterMs : undefined;
  return ApplicationFailure.create({
    type: error.name,
    message: error.message,
    nonRetryable: !error.retryable,
    details: [error.details],
    cause: error,
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
  });
}
