import type { Side } from "../taps/event.js";

/** What is done at a window. Every "for a while" in a verb ends at something that was seen, never at a sleep. */
export interface VerbMeaning {
  /** One sentence for the report. */
  readonly does: string;
  /** The process that owns the connections is ended. */
  readonly kills: boolean;
  /** The one side of a message that it makes sense on; both where there is none. */
  readonly side?: Side;
}

export const verbs = {
  kill: {
    does: "The message is held, the process that owns the connection is killed with SIGKILL and reaped, and the message is dropped.",
    kills: true,
  },
  "drop-answer": {
    does: "The message is forwarded and takes effect; its answer is thrown away and the connection breaks. The process lives on.",
    kills: false,
    side: "after",
  },
  "drop-request": {
    does: "The message is never forwarded, and the connection breaks, so that its sender can't know whether it arrived. The process lives on.",
    kills: false,
    side: "before",
  },
} as const satisfies Record<string, VerbMeaning>;

export type Verb = keyof typeof verbs;

export const meaningOf = (verb: Verb): VerbMeaning => verbs[verb];

export const verbNames = Object.keys(verbs) as readonly Verb[];
