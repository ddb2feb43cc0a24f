/**
 * Errors as problem details (RFC 9457). The type is an address below the system's own domain, so that a client can
 * tell this system's word from that of a gateway in front of it.
 */
import type { z } from "zod";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Machine-readable reason within the type: for a refusal, one of the system's published codes. */
  readonly code?: string;
  /** One entry per field of the request that broke its contract. */
  readonly errors?: readonly FieldError[];
}

export interface FieldError {
  readonly field: string;
  readonly value: unknown;
  readonly message: string;
}

export const problemMediaType = "application/problem+json";

/** Thrown by a handler; the server's error handler turns it into the answer. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** @param system names the domain: `accounting` gives `https://accounting.example/problems/...`. */
export function problemType(system: string, name: string): string {
  return `https://${system}.example/problems/${name}`;
}

/** What a schema found, with the value that was given: a caller should not have to search for it. */
export function fieldErrors(issues: readonly z.core.$ZodIssue[], input: unknown): FieldError[] {
  return issues.map((issue) => ({
    field: issue.path.map(String).join(".") || "(whole)",
    value: valueAt(input, issue.path) ?? null,
    message: issue.message,
  }));
}

/** The same as one sentence, for people. */
export function fieldErrorsText(errors: readonly FieldError[]): string {
  return errors.map(({ field, value, message }) => `${field}: ${message}, got ${shorten(value)}`).join("; ");
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

/** A value in a message is for recognising it, not for carrying it. */
const shownCharactersMax = 120;

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= shownCharactersMax ? text : `${text.slice(0, shownCharactersMax)}…`;
}
