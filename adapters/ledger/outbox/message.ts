import type { JsonValue } from "../../../activities/operation/json.js";

/** Starts a workflow that must run at most once; one that ran before isn't started again, unless `again` says so. */
export interface StartMessage {
  readonly kind: "start";
  readonly workflowId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly args: readonly JsonValue[];
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** How long a worker may take over one workflow task. Default: the server's, ten seconds. */
  readonly workflowTaskTimeoutMs?: number;
  /** Also when the id's last run failed, was cancelled or terminated; never when it completed. Default: false. */
  readonly again?: boolean;
}

/** Wakes a workflow that is expected to run. The signal is a hint: the truth stands in the ledger. */
export interface SignalMessage {
  readonly kind: "signal";
  readonly workflowId: string;
  readonly signal: string;
  readonly args: readonly JsonValue[];
}

/** Wakes the workflow of an entity, which is started if it doesn't run. */
export interface SignalWithStartMessage {
  readonly kind: "signalWithStart";
  readonly workflowId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly args: readonly JsonValue[];
  readonly signal: string;
  readonly signalArgs: readonly JsonValue[];
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** As in `StartMessage`. */
  readonly workflowTaskTimeoutMs?: number;
}

/** A mail. The row's message key goes to the mail system as its idempotency key. */
export interface MailMessage {
  readonly kind: "mail";
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export type OutboxMessage = StartMessage | SignalMessage | SignalWithStartMessage | MailMessage;

export type OutboxKind = OutboxMessage["kind"];

/** The messages of one workflow, and those to one reader, keep their order; different ones never wait for each other. */
export function orderingKeyOf(message: OutboxMessage): string {
  return message.kind === "mail" ? `mail:${message.to}` : `workflow:${message.workflowId}`;
}
