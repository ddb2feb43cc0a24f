/**
 * What a tap reports, and what it can be told to do about it.
 *
 * A tap sits on a connection between one process and one peer. For each message that crosses the boundary it
 * makes up to two events: *before* (the message has arrived at the tap and nothing of it was forwarded) and
 * *after* (it was forwarded and is effective, and nothing of the answer has reached the process). At each it asks
 * its controller and does what the controller says. It decides nothing and knows no story.
 */

export type Side = "before" | "after";

/**
 * - `run`: a run's token is in the message, in its answer, or in the transaction it ends;
 * - `service`: part of how processes keep alive (polls, system info, claims that found nothing); listed, never a
 *   window;
 * - `unattributed`: the rest. A boundary that belongs to nobody can't be tested, so the lab wants none of these.
 */
export type Attribution = "run" | "service" | "unattributed";

/** Why an event that belongs to a run is no place to kill at. */
export type NoWindowReason =
  | "heartbeat"
  /** The answer to the task that closed the workflow: the process has nothing left to do about it. */
  | "closing-task"
  | "empty-claim"
  /** Tables and functions are made before a story begins. */
  | "definition"
  | "query"
  /** Nothing changes at the other side. */
  | "read";

/** What the message does at the other side. */
export type Access =
  | "write"
  | "read"
  /** The other side hands out work in its answer: a task to a worker. */
  | "delivery";

/** Known by the connection, the same for every event on it. */
export interface ConnectionInfo {
  /** Counts the tap's client connections from 1, so a reconnected process is seen as a new generation. */
  readonly generation: number;
  /** The process's own port of the connection, by which the operating system names its owner. */
  readonly clientPort: number;
}

export interface PostgresDetails {
  readonly kind: "postgres";
  readonly connection: ConnectionInfo;
  /** Process id of the server's backend, whose end can be awaited after a kill. */
  readonly backendPid: number | null;
  readonly statements: readonly {
    readonly verb: string;
    readonly table: string;
    readonly fingerprint: string;
    readonly writes: boolean;
  }[];
  /** It ends a transaction that wrote. */
  readonly commits: boolean;
  /** Rows that the statements say they touched; side `after` only. */
  readonly rows: number | null;
}

/** A task as the server handed it to a worker: the proof of who worked on what. */
export interface DeliveredTask {
  readonly kind: "workflow-task" | "activity-task";
  /** Base64 of the task token. */
  readonly taskToken: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly activityType: string | null;
  readonly activityId: string | null;
  readonly attempt: number;
  /** Worker identity under which the task was asked for. */
  readonly identity: string;
  /** The activity came inside the answer to a workflow task instead of by a poll. */
  readonly eager: boolean;
}

export interface TemporalDetails {
  readonly kind: "temporal";
  readonly connection: ConnectionInfo;
  readonly call: string;
  readonly workflowId: string | null;
  readonly workflowType: string | null;
  /** Commands of a completed workflow task, in their order: `ScheduleActivityTask`. */
  readonly commands: readonly string[];
  /** The task that this call answers, as it was delivered; `null` for calls that answer none. */
  readonly task: DeliveredTask | null;
  /** Tasks that the answer hands out; side `after` only. */
  readonly delivered: readonly DeliveredTask[];
}

export interface HttpDetails {
  readonly kind: "http";
  readonly connection: ConnectionInfo;
  readonly method: string;
  readonly route: string;
  /** With query; the run's own ids are in it. */
  readonly path: string;
  /** Status of the second answer, when the request was sent twice. */
  readonly duplicateStatus: number | null;
}

export interface BoundaryEvent {
  /** Name of the process whose connections the tap sits on. */
  readonly process: string;
  /** `temporal`, `postgres`, `ingress`, or the name of an outside system. */
  readonly tap: string;
  /** The same for the same message of every run: no token, no time, no id. */
  readonly label: string;
  readonly side: Side;
  /** Both sides of one message share it. Counts from 1 within a tap. */
  readonly exchange: number;
  /** The tap's own order of events, from 1. */
  readonly sequence: number;
  /** Milliseconds since 1970 by the lab's clock. */
  readonly at: number;
  readonly attribution: Attribution;
  readonly runTokens: readonly string[];
  readonly access: Access;
  readonly noWindow: NoWindowReason | null;
  /** The business key that the message carries, or `null`. */
  readonly key: string | null;
  /** SHA-256 of the request's bytes, in lower-case hex; `null` where they were not kept. */
  readonly digest: string | null;
  /** Status that the other side answered, in its own terms (`201`, `INSERT 0 1`, `23505`, `0`); `after` only. */
  readonly status: string | null;
  readonly details: PostgresDetails | TemporalDetails | HttpDetails;
}

/**
 * What to do with the message now. Not every decision fits every event; a tap that is asked for one that doesn't
 * fit reports a fault and forwards.
 */
export type Decision =
  | { readonly do: "forward" }
  /**
   * Wait. The message stays in the tap until `until` gives the decision to go on with, so a delay always ends at
   * something that was seen. When the process goes away meanwhile, the message is dropped, unless
   * `outlivesClient`: then it is a packet that was already on its way, and comes through late.
   */
  | { readonly do: "hold"; readonly until: Promise<Decision>; readonly outlivesClient?: boolean }
  /** Before: never forwarded. After: the answer never arrives. Either way the process sees its connection break. */
  | { readonly do: "drop" }
  /** Before only: forward, and drop the answer when it comes; the event *after* is still reported. */
  | { readonly do: "drop-answer" }
  /** Break the connection with a TCP reset instead of an orderly end. */
  | { readonly do: "reset" }
  /** Before only, HTTP only: forward it twice, one after the other; the first answer is passed on. */
  | { readonly do: "duplicate" }
  /** After only, HTTP only: the effect stays, the process is told 500. */
  | { readonly do: "answer-500" };

/** Something that is no boundary event but must not go unseen. */
export type TapNote =
  | { readonly note: "connection-opened" | "connection-closed"; readonly connection: ConnectionInfo }
  | { readonly note: "upstream-lost"; readonly reason: string }
  /** The tap itself couldn't do its work; no verdict about the process may rest on this run. */
  | { readonly note: "fault"; readonly reason: string };

/** Who watches and steers a tap. */
export interface TapController {
  /**
   * Called once for each event, in the order of the connection. The message waits for the answer, so an answer
   * that never comes is a hold. A throw is reported as a fault and the message goes on.
   */
  decide(event: BoundaryEvent): Decision | Promise<Decision>;
  note?(note: TapNote, process: string, tap: string): void;
}

export const forward: Decision = { do: "forward" };
