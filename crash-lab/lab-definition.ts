/**
 * What a crash lab needs to know of the system it tests: how its processes are started, where their boundaries are,
 * the stories to tell it, and who outside can say what really happened. The lab knows nothing else of it, so a
 * worker in any language can be tested without a hook in its code.
 */
import type { Run } from "../platform/run.js";
import type { ProcessSpec } from "../platform/managed-process.js";
import type { Effect, InvariantResult, Told } from "./judge/evidence.js";
import type { EvidenceLine } from "./judge/evidence-line.js";
import type { Side } from "./taps/event.js";
import type { ServiceLabel } from "./taps/observer.js";
import type { Verb } from "./verbs/verb.js";

/** Where the processes under test would connect if the lab were not between them. */
export interface Peers {
  /** `host:port` of the Temporal frontend. */
  readonly temporal?: { readonly address: string; readonly namespace: string };
  /** Connection URLs by name: `{ ledger: "postgres://…" }`. */
  readonly postgres?: Readonly<Record<string, string>>;
  /** Base URLs by name, with the routes whose parts in braces are ids: `{ accounting: { url, routes: ["POST /postings"] } }`. */
  readonly http?: Readonly<Record<string, { readonly url: string; readonly routes: readonly string[] }>>;
}

/** The same places as the process is to use them, through the taps of its own. */
export interface TappedPeers {
  readonly temporal: { readonly address: string; readonly namespace: string };
  readonly postgres: Readonly<Record<string, string>>;
  readonly http: Readonly<Record<string, string>>;
}

/** A process under test that serves callers itself. The lab listens in its place, at an address that outlives it. */
export interface Ingress {
  /** With parts in braces that are ids: `["POST /orders", "GET /orders/{id}"]`. */
  readonly routes: readonly string[];
  /** The port on 127.0.0.1 that the process said it listens on, when it was ready. */
  port(ready: Readonly<Record<string, unknown>>): number;
}

/** What the outside actors of a story can use. */
export interface Stage {
  /** Base URLs by process: where callers send their requests, whichever process of that name serves them. */
  readonly ingress: Readonly<Record<string, string>>;
  /** Whose time-outs the run is to have. */
  readonly profile: LabProfile;
}

/**
 * Makes a race instead of hoping for it: a message of a run waits in its tap until something else was seen. A kill at
 * the same message comes first; what its successor sends waits in the same way.
 */
export interface StoryHold<Environment> {
  readonly process: string;
  readonly tap: string;
  readonly label: string | RegExp;
  readonly side: Side;
  /** Resolves when the message may go on. Asked anew for each message; ends when the signal is aborted. */
  until(environment: Environment, token: string, signal: AbortSignal): Promise<void>;
}

/** How a run stands, asked again and again until it has ended or the deadline passes. */
export type Standing =
  | { readonly state: "open"; readonly pending: readonly string[] }
  | { readonly state: "closed" }
  | { readonly state: "parked"; readonly recoveryRow: string }
  | { readonly state: "absent" };

export interface Story<Environment> {
  /** One sentence for people. */
  readonly tells: string;
  /** The process whose windows are tried. */
  readonly victims: readonly string[];
  /**
   * What the processes have to be started with for this story, as `processes` understands it. Between stories with
   * different settings all of them are started anew. Default: the same as for every other story without.
   */
  readonly settings?: string;
  /** Those of the processes that take part. Default: all. */
  readonly processes?: readonly string[];
  /** Messages that wait for a fact, in every run of the story. */
  readonly holds?: readonly StoryHold<Environment>[];
  /**
   * Starts one run. Every business id in it carries the token between delimiters. Resolves when the outside actors
   * have done what they do by themselves; what waits for a fact (a ticket that is open) goes into `drive`.
   *
   * @returns what callers were told.
   */
  start(environment: Environment, token: string, stage: Stage): Promise<readonly Told[]>;
  /**
   * The outside actors who act on seen facts, from the start of the run until it has ended. When the signal is
   * aborted there is nobody left to act for.
   *
   * @returns what callers were told, if anything.
   */
  drive?(
    environment: Environment,
    token: string,
    signal: AbortSignal,
    stage: Stage,
  ): Promise<readonly Told[] | void>;
  /** Resolves when the run has ended, in whatever way, or with what is still pending when the signal is aborted. */
  ended(environment: Environment, token: string, signal: AbortSignal): Promise<Standing>;
  /** The workflow ids of the run, for replay and for the proof of second attempts. */
  workflowIds(token: string): readonly string[];
}

export interface Expectation {
  /** The window's name, or the end of it; a pattern for names that hold what changes with the code, as fingerprints. */
  readonly window: string | RegExp;
  readonly verb: Verb;
  /** The one verdict that is right there although it isn't `once`: `parked`, `not-admitted`. */
  readonly verdict: "parked" | "not-admitted";
  readonly because: string;
}

export interface LabProfile {
  readonly name: string;
  /** Time-out of a workflow task in the stories; holding longer than 0.6 of it would start a second attempt. */
  readonly workflowTaskTimeoutMs: number;
  /**
   * Once a process is proved dead, the lab reports the tasks that died with it as failed, so that nobody waits for
   * the server to notice. Recovery is then not what it is without the lab: it starts at once, and the next attempt
   * follows a reported failure instead of a time-out. Default false: real time-outs.
   */
  readonly obituary?: boolean;
  /** A run that has not ended this long after the fault is stuck. */
  readonly deadlineMs: number;
}

export interface CrashLabDefinition<Environment> {
  readonly name: string;
  /** Folder with `manifest.json`; absolute. */
  readonly folder: string;
  /** Starts what is outside the processes under test, inside the run, so that it ends with it. */
  environment(run: Run): Promise<Environment>;
  /**
   * A further lane: an environment on the same servers in which the processes under test share no work with those of
   * another lane, since each lane kills its own. That takes a task queue of its own, and a database where processes
   * take work from it. Rounds of different lanes then overlap. Default: one lane.
   *
   * @param number from 2
   */
  lane?(first: Environment, run: Run, number: number): Promise<Environment>;
  peers(environment: Environment): Peers;
  /** How each process under test is started with its own taps. */
  readonly processes: Readonly<
    Record<
      string,
      (
        environment: Environment,
        peers: TappedPeers,
        /** Of the story, see `Story.settings`, and of the lab. */
        asked: { readonly settings: string | undefined; readonly profile: LabProfile },
      ) => ProcessSpec
    >
  >;
  /** Those among the processes that callers talk to. */
  readonly ingress?: Readonly<Record<string, Ingress>>;
  /** Labels of messages that belong to no run by declaration: exact, or a pattern for the whole label. */
  readonly service?: readonly ServiceLabel[];
  readonly stories: Readonly<Record<string, Story<Environment>>>;
  /** Resolves when nothing of this run is still on its way inside the outside systems: late commits, slow answers. */
  settled?(environment: Environment, token: string): Promise<void>;
  /** What the outside systems committed for this run, read from their own journals. */
  effects(environment: Environment, token: string): Promise<readonly Effect[]>;
  invariants?(environment: Environment, token: string): Promise<readonly InvariantResult[]>;
  /**
   * What outside systems and the processes' own stores say of this run, line by line, for whoever wants to work the
   * verdict out again. Effects are the lines of kind `committed`. Default: `effects` as such lines.
   */
  evidence?(environment: Environment, token: string): Promise<readonly EvidenceLine[]>;
  /** The prebuilt workflow bundle that each finished run is replayed with. */
  replayBundle?(environment: Environment): Promise<{ readonly codePath: string }>;
  readonly expectations?: readonly Expectation[];
  readonly profile: LabProfile;
  /** Others that may be asked for by name. */
  readonly otherProfiles?: readonly LabProfile[];
}

/** Gives a definition its types; does nothing else. */
export function defineCrashLab<Environment>(
  definition: CrashLabDefinition<Environment>,
): CrashLabDefinition<Environment> {
  return definition;
}
