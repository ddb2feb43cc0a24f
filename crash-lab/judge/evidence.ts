/**
 * What the judge reads. Facts only, each by the observer that saw it: outside systems, callers, the lab's own
 * deliveries, Temporal's history. One observer never fills in for another.
 */
import type { HistoryEvent } from "./history.js";
import type { LostTask } from "./lost-tasks.js";

/** Something that an outside system says it *committed*. */
export interface Effect {
  /** `accounting`, `mail`, … */
  readonly system: string;
  /** What it is about, in the outside system's own terms, with the run's token replaced: `posting:<run>-1`. */
  readonly subject: string;
  /** SHA-256 of the canonical JSON of its content, with the run's token replaced, so that runs can be compared. */
  readonly contentDigest: string;
  /** The outside system's own order. */
  readonly sequence: number;
}

/** What a caller was told at the ingress. */
export interface Told {
  readonly request: string;
  readonly status: number;
}

/** How the run stood when the quiet phase had ended. */
export type Ending =
  | { readonly state: "closed" }
  /** In a parked state that the scenario declares, with its recovery row, and nothing else pending. */
  | { readonly state: "parked"; readonly recoveryRow: string }
  /** Nothing was ever started for this token. */
  | { readonly state: "absent" }
  | { readonly state: "open"; readonly pending: readonly string[] };

/** What the lab did, and the proof that it happened. */
export interface FaultEvidence {
  readonly verb: string;
  /** The held message arrived at the window. */
  readonly reached: boolean;
  /** The proof of each step, in order; a missing one makes the case vacuous. */
  readonly victim?: VictimEvidence;
  /** For verbs that leave the process alive: the answer was withheld, the packet dropped, … */
  readonly fired: boolean;
}

export interface VictimEvidence {
  readonly pid: number;
  /** The signal by which it was reaped, as the operating system reported it. */
  readonly signal: string | null;
  /** Its connections through the taps broke. */
  readonly connectionsBroken: boolean;
  /** The worker identity under which the tap saw the held task delivered. */
  readonly identity: string | null;
  /** What it was working on for this run. */
  readonly lostTasks: readonly LostTask[];
}

export interface InvariantResult {
  readonly name: string;
  readonly holds: boolean;
  readonly detail: string;
}

export interface CaseEvidence {
  readonly fault: FaultEvidence;
  readonly ending: Ending;
  readonly effects: readonly Effect[];
  readonly told: readonly Told[];
  /** Of all the run's workflows, in the order of the story's workflow ids. */
  readonly history: readonly HistoryEvent[];
  readonly replay: { readonly ok: boolean; readonly detail: string };
  readonly invariants: readonly InvariantResult[];
  /** Missed expectations that the scenario declared for this window. */
  readonly missedExpectations: readonly string[];
}

/** What the undisturbed run left behind. */
export interface GoldenOutcome {
  readonly effects: readonly Effect[];
}
