/**
 * The figures the workflow goes by. They are part of its input, so a running process keeps the policy it was admitted
 * under, and a replay sees the same figures. Durations in milliseconds.
 */
import type { AssessmentRules } from "../../activities/invoice-approval/assessment.js";

export interface InvoicePolicy {
  readonly assessment: AssessmentRules;
  readonly activity: ActivityPolicy;
  /**
   * How long a worker may take over one workflow task before the server gives it to another one. Longer means a
   * slower recovery from a killed worker, shorter means that a slow worker's work is done twice.
   */
  readonly workflowTaskTimeoutMs: number;
  readonly parked: ParkedPolicy;
  /** Without it nobody reviews here, and an invoice that would need it ends visibly. */
  readonly review?: ReviewPolicy;
}

export interface ReviewPolicy {
  /** How long reviewers have, from the moment the review was asked for. */
  readonly deadlineMs: number;
}

export interface ActivityPolicy {
  /** Bounds a call that hangs while its worker goes on beating. */
  readonly startToCloseMs: number;
  /** How long without a sign of life until an attempt counts as dead and the next one starts. */
  readonly heartbeatMs: number;
  readonly retryInitialMs: number;
  readonly retryBackoff: number;
  readonly retryMaximumMs: number;
  /**
   * After this long a step without an effect outside (reading, validating) is given up. Posting has no such limit:
   * it parks by itself, because giving up on it would leave an unknown posting behind.
   */
  readonly giveUpAfterMs: number;
}

/** A parked invoice waits for the hint that it was answered; the poll is for a hint that got lost. */
export interface ParkedPolicy {
  readonly pollInitialMs: number;
  /** The wait doubles up to this. A day keeps the history of a year far below Temporal's limit. */
  readonly pollMaximumMs: number;
}
