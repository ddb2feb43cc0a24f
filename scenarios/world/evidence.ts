/** The journal as lines of evidence, one JSON object each, in the form that is kept beside a verdict. */
import type { JournalEntry } from "./journal.js";

export interface EvidenceLine {
  readonly run: string;
  readonly system: string;
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly key: string;
  readonly digest: string;
  readonly status: number | null;
}

export function toEvidenceLine(run: string, entry: JournalEntry): EvidenceLine {
  const { system, seq, at, kind, key, digest, status } = entry;
  return { run, system, seq, at, kind, key, digest, status };
}

/** Newline-delimited JSON, with a newline at the end. */
export function toEvidence(run: string, entries: readonly JournalEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(toEvidenceLine(run, entry))}\n`).join("");
}
