/** What is done at a window. Every "for a while" in a verb ends at something that was seen, never at a sleep. */
export interface VerbMeaning {
  /** One sentence for the report. */
  readonly does: string;
  /** The process that owns the connections is ended. */
  readonly kills: boolean;
}

export const verbs = {
  kill: {
    does: "The message is held, the process that owns the connection is killed with SIGKILL and reaped, and the message is dropped.",
    kills: true,
  },
  "drop-answer": {
    does: "The message is forwarded and takes effect; its answer is thrown away and the connection breaks. The process lives on.",
    kills: false,
  },
} as const satisfies Record<string, VerbMeaning>;

export type Verb = keyof typeof verbs;

export const verbNames = Object.keys(verbs) as readonly Verb[];
