import type { CaseForm, RunForm } from "./form.js";
import type { CallRecorder, FunctionLibrary } from "./functions.js";

/** A checkpoint's place: the head of a thread, or the checkpoint that a script chose before. */
export interface Place {
  readonly thread: string;
  readonly checkpoint?: string;
}

export interface TaskView {
  name: string;
  interrupts?: unknown[];
  error?: string;
}

export interface StateView {
  values: unknown;
  next: string[];
  step: number | null;
  source: string | null;
  tasks: TaskView[];
  /** States of subgraphs that are part of a waiting task, when asked for. */
  sub?: { name: string; values: unknown; next: string[] }[];
}

export interface HistoryView {
  /** Handle of the checkpoint, for a `Place`. */
  readonly checkpoint: string;
  readonly step: number;
  readonly source: string;
  readonly next: string[];
  readonly values: unknown;
}

/**
 * One case's graph, ready to be called on one engine. Every method gives plain data in the form of the expectation
 * files, and lets the engine's errors through as they are.
 */
export interface Session {
  readonly recorder: CallRecorder;
  run(op: RunForm, place: Place): Promise<unknown>;
  stream(op: RunForm, place: Place): Promise<unknown[]>;
  state(place: Place, subgraphs: boolean): Promise<StateView>;
  /** Newest first. */
  history(thread: string): Promise<HistoryView[]>;
  /** Gives the handle of the checkpoint that it wrote. */
  update(place: Place, values: unknown, asNode: string | undefined): Promise<string>;
  updateSubgraph(place: Place, node: string, values: unknown, asNode: string | undefined): Promise<void>;
  bulkUpdate(place: Place, supersteps: readonly { values: unknown; asNode: string }[][]): Promise<void>;
}

export interface CaseEngine {
  readonly name: string;
  /** Builds the case's graph. Throws what the engine throws when it refuses the graph. */
  open(subject: CaseForm, functions: FunctionLibrary): Promise<Session>;
  /** An error by the name, code and parts that both engines know it by. */
  describe(error: Error): ErrorView;
}

export interface ErrorView {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Messages of the errors that it stands for, when several tasks failed. */
  readonly errors?: readonly string[];
}

/** What a case gave on an engine, in the form of the expectation files. */
export interface PlayedCase {
  readonly steps: Record<string, unknown>[];
  readonly calls?: Record<string, number>;
  /** Messages of the errors that the case's own functions threw. */
  readonly thrown: ReadonlySet<string>;
}
