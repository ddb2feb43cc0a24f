import type { JsonValue } from "../../../activities/operation/json.js";
import type { ClaimedMessage } from "./claim.js";
import type { OutboxKind, OutboxMessage } from "./message.js";

/** What came of one try to send a message. */
export type Delivery =
  /** The receiver has it, from this try or an earlier one. */
  | { readonly delivery: "sent"; readonly outcome: JsonValue }
  /** No further try can change the answer. */
  | {
      readonly delivery: "failed";
      readonly reason: string;
      readonly outcome: JsonValue;
      /** Somebody waits for what the message should have caused, so a person has to know. */
      readonly needsPerson: boolean;
    }
  /** It may or may not have arrived, or the receiver is busy; the same message is sent again, under the same key. */
  | { readonly delivery: "again"; readonly error: string; readonly retryAfterMs?: number };

/** A claimed message of certain kinds. */
export type Claimed<Kind extends OutboxKind = OutboxKind> = Omit<ClaimedMessage, "message"> & {
  readonly message: Extract<OutboxMessage, { kind: Kind }>;
};

/**
 * Sends messages of certain kinds, each once. Whatever the wire does is a `Delivery` and never an error. A call
 * ends by its own time-out, never by a stop of the process: an aborted one would only have to be repeated. The
 * message's key makes that harmless.
 */
export type Sender<Kind extends OutboxKind> = (claimed: Claimed<Kind>) => Promise<Delivery>;

export type WorkflowMessageKind = Exclude<OutboxKind, "mail">;
