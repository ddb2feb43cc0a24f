/** The problems that every system with keyed requests answers in the same way. */
import { problemAnswer, type WireAnswer } from "./answer.js";
import type { System } from "./faults/fault.js";
import { problemType } from "./http/problem.js";

/** What a client should leave between two questions about a request under way. */
const inProgressRetryAfterSeconds = 1;

export function inProgress(system: System): WireAnswer {
  return problemAnswer(
    {
      type: problemType(system, "request-in-progress"),
      title: "Request in progress",
      status: 409,
      detail: "A request with this idempotency key is being worked on.",
      code: "in-progress",
    },
    { "retry-after": String(inProgressRetryAfterSeconds) },
  );
}

export function keyReused(system: System, idempotencyKey: string): WireAnswer {
  return problemAnswer({
    type: problemType(system, "idempotency-key-reused"),
    title: "Idempotency key reused",
    status: 409,
    detail: `The idempotency key ${idempotencyKey} came with another request before; nothing was done.`,
    code: "key-reused",
  });
}

/** @param code one of the system's published codes. */
export function refused(system: System, code: string): WireAnswer {
  return problemAnswer({
    type: problemType(system, "refused"),
    title: "Refused",
    status: 422,
    detail: `The request is refused: ${code}.`,
    code,
  });
}

export function failed(system: System, status: number): WireAnswer {
  return problemAnswer({
    type: problemType(system, "internal"),
    title: "Internal error",
    status,
    detail: "The request could not be worked on.",
  });
}
