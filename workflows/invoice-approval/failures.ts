/** From what Temporal throws to one named, visible failure. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/workflow";
import type { FailureName } from "../../failures/catalogue.js";

export interface NamedFailure {
  readonly type: string;
  readonly message: string;
}

/** @throws what it is given when that isn't a failure: a bug must fail the task and be retried after a repair */
export function namedFailure(error: unknown): NamedFailure {
  const cause =
    (error instanceof ActivityFailure || error instanceof ChildWorkflowFailure) && error.cause
      ? error.cause
      : error;
  if (cause instanceof ApplicationFailure) {
    return { type: cause.type ?? "ApplicationFailure", message: cause.message };
  }
  if (cause instanceof TimeoutFailure) return named("StepGaveUp", cause.message);
  if (cause instanceof CancelledFailure) return { type: "Cancelled", message: cause.message };
  if (cause instanceof TerminatedFailure) return { type: "Terminated", message: cause.message };
  throw error;
}

export function visibleFailure(type: FailureName, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type);
}

export function isFailureOf(error: unknown, type: FailureName): boolean {
  return (
    error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === type
  );
}

function named(type: FailureName, message: string): NamedFailure {
  return { type, message };
}
