/**
 * The states of an operation and every change between them, as data. The ledger's statements take their conditions
 * from this table, and so does the executable model in the tests, so a change that isn't listed here can't happen.
 *
 * ```
 * (none) → intended → submitting → confirmed
 *                         ├→ accepted → confirmed | failed-at-provider | parked
 *                         ├→ unknown  → submitting | confirmed | parked
 *                         ├→ refused  → intended (next try, after a repair)
 *                         └→ parked   → confirmed | intended | unknown, by an answer
 * ```
 *
 * | state | means | sent? |
 * | --- | --- | --- |
 * | `intended` | asked for; nothing was sent under this try's key | never |
 * | `submitting` | a send may be under way or may have been lost | perhaps |
 * | `unknown` | a send ended and said nothing about the effect | perhaps |
 * | `accepted` | the provider took it on as a long-running operation | yes |
 * | `refused` | the provider refused definitively: no effect | yes, in vain |
 * | `parked` | it can't be known by asking; a row in `recovery_queue` waits for an answer | perhaps |
 * | `confirmed` | the effect is there and its receipt is stored | yes |
 * | `failed-at-provider` | the provider took it on and then reported that it failed | yes |
 */
export const operationStates = [
  "intended",
  "submitting",
  "unknown",
  "accepted",
  "refused",
  "parked",
  "confirmed",
  "failed-at-provider",
] as const;

export type OperationState = (typeof operationStates)[number];

/**
 * Who may make a change. `current`: only the entrant that holds the operation's epoch, because what it writes is a
 * *guess* that a later entrant may know better. `any`: also a zombie, because what it writes is a *fact*.
 * `person`: an answer to a row in the recovery queue; it raises the epoch itself.
 */
export type Author = "current" | "any" | "person";

export type Verb =
  | "intend"
  | "takeOver"
  | "submit"
  | "confirm"
  | "accept"
  | "failAtProvider"
  | "markUnknown"
  | "refuse"
  | "park"
  | "nextTry"
  | "answer";

export interface Transition {
  readonly verb: Verb;
  /** `none`: there is no row yet. */
  readonly from: readonly (OperationState | "none")[];
  /** `same`: the state stays, the epoch is raised. */
  readonly to: readonly (OperationState | "same")[];
  readonly author: Author;
  /** What else must hold; what happens when it doesn't. */
  readonly guard: string;
  readonly why: string;
}

export const transitions = {
  intend: {
    verb: "intend",
    from: ["none"],
    to: ["intended", "submitting"],
    author: "any",
    guard:
      "The key is new; otherwise what is there is read, and another fingerprint is a conflict. Straight to `submitting` only where sending again under the same key costs nothing, and under the guard of `submit`.",
    why: "One key has one meaning, and nothing is sent that wasn't written down before.",
  },
  takeOver: {
    verb: "takeOver",
    from: ["intended", "submitting", "unknown", "accepted", "refused"],
    to: ["same"],
    author: "current",
    guard: "Epoch, state and last submission are still what was read; otherwise stale.",
    why: "Of several entrants one goes on and the others learn it; what an earlier one guesses from now on is dropped.",
  },
  submit: {
    verb: "submit",
    from: ["intended", "submitting", "unknown"],
    to: ["submitting"],
    author: "current",
    guard:
      "The owner, if there is one, is at the same generation and not fenced, read under a share lock in the same transaction; otherwise fenced.",
    why: "Written before every send: `intended` proves that nothing was sent, and a fence that holds the owner's row sees every open submission.",
  },
  confirm: {
    verb: "confirm",
    from: [
      "intended",
      "submitting",
      "unknown",
      "accepted",
      "refused",
      "parked",
      "confirmed",
      "failed-at-provider",
    ],
    to: ["confirmed", "parked"],
    author: "any",
    guard:
      "No other receipt is stored, and none came from another try that may have been sent; otherwise parked with both.",
    why: "A receipt is a fact, also a zombie's: dropping it would throw away the only evidence.",
  },
  accept: {
    verb: "accept",
    from: ["submitting", "unknown"],
    to: ["accepted"],
    author: "any",
    guard: "The answer belongs to the current try; otherwise stale.",
    why: "That the provider took it on, and where to ask about it, is a fact.",
  },
  failAtProvider: {
    verb: "failAtProvider",
    from: ["accepted"],
    to: ["failed-at-provider"],
    author: "any",
    guard: "The failure is that of the stored long-running operation; otherwise stale.",
    why: "The provider's own final word about its operation is a fact.",
  },
  markUnknown: {
    verb: "markUnknown",
    from: ["submitting"],
    to: ["unknown"],
    author: "current",
    guard: "The epoch is the entrant's; otherwise stale.",
    why: "A zombie's time-out must not overwrite what its successor has learnt.",
  },
  refuse: {
    verb: "refuse",
    from: ["submitting"],
    to: ["refused"],
    author: "current",
    guard: "The epoch is the entrant's, and the answer is on the provider's list of definitive refusals.",
    why: "A refusal ends the try, so it is believed only from whoever sent last.",
  },
  park: {
    verb: "park",
    from: ["submitting", "unknown", "accepted"],
    to: ["parked"],
    author: "current",
    guard: "The epoch is the entrant's; the row in `recovery_queue` is written in the same transaction.",
    why: "Nothing waits unseen.",
  },
  nextTry: {
    verb: "nextTry",
    from: ["refused", "submitting", "unknown", "intended"],
    to: ["intended"],
    author: "current",
    guard:
      "The try that ends is proved to have had no effect: refused, found absent after settling, or never sent. Only after a refusal or a person's answer may the new try carry another fingerprint.",
    why: "A new provider key is the one thing that can double an effect, so it needs a proof and is stored before use.",
  },
  answer: {
    verb: "answer",
    from: ["parked"],
    to: ["confirmed", "intended", "unknown"],
    author: "person",
    guard: "The row in `recovery_queue` is still open; the same answer sent twice gives the same result.",
    why: "Two people answering must not both be obeyed, and who answered what stays on record.",
  },
} as const satisfies { readonly [V in Verb]: Transition & { readonly verb: V } };

/** The states in which a verb may change an existing row. */
export function statesBefore(verb: Verb): readonly OperationState[] {
  const from: readonly (OperationState | "none")[] = transitions[verb].from;
  return from.filter((state) => state !== "none");
}
