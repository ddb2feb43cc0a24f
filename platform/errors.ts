/**
 * An error meant for the person at the terminal: its message says what went wrong, with the value, and what would
 * help. Whoever catches it at the top prints the message alone, without a stack, and exits with `exitCode`.
 */
export class UserFacingError extends Error {
  override readonly name = "UserFacingError";

  /** @param exitCode 2 by default: the tool could not do its work (1 is kept for bad findings). */
  constructor(
    message: string,
    readonly exitCode: number = 2,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The message of whatever was thrown, for use inside another message. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === "")
    return thrown.errors.map(messageOf).join("; ");
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The system's error code (`EADDRINUSE`), or undefined when what was thrown carries none. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
