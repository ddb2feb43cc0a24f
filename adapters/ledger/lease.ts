/**
 * One claim of one row. It is named by who claimed and by which claim it was: the same owner may claim a row anew
 * after its lease ran out, and the call it had forgotten must then change nothing.
 */
export interface Lease {
  readonly owner: string;
  /** The row's `claims` when it was claimed. */
  readonly claim: number;
}

/** `stale`: the row was claimed anew or settled since; nothing was changed. */
export type LeaseResult = "done" | "stale";
