/** The figures of the sweep. Durations in milliseconds. */
export interface SweepPolicy {
  /** From one sweep to the next; it bounds how long a tenant's place stays taken by a batch that was terminated. */
  readonly intervalMs: number;
  /** What has changed since is on its way, and looking at it would only be a call. */
  readonly graceMs: number;
  /** Rows in one activity: each costs one or two calls of Temporal. */
  readonly pageSize: number;
  readonly activity: {
    /** Of one attempt at one page. */
    readonly startToCloseMs: number;
    readonly heartbeatMs: number;
    readonly retryInitialMs: number;
    readonly retryMaximumMs: number;
    /** A page that keeps failing ends this sweep; the next one begins anew. */
    readonly giveUpAfterMs: number;
  };
  readonly workflowTaskTimeoutMs: number;
}
