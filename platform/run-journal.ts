/**
 * What a run has made and must not leave behind, written down in its folder the moment it is made. Three readers
 * use the same file in the same way: the run itself when it closes, its guardian when the run was killed, and the
 * next run when the guardian was killed too.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "./process-table.js";

/** The environment variable by which everything that a run started can be found, whatever became of its parent. */
export const runMarker = "KILLPROOF_RUN";

export interface RunRecord {
  readonly id: string;
  readonly name: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly machine: Machine;
}

export type JournalEntry =
  /** A child in a process group of its own; `pid` is also the group's number. */
  | { readonly made: "group"; readonly name: string; readonly pid: number; readonly startedAt: string }
  /** That group has ended with everything in it, so its number may by now be someone else's. */
  | { readonly made: "groupEnded"; readonly pid: number }
  /** A folder outside the run folder. */
  | { readonly made: "folder"; readonly path: string }
  /** A Postgres data folder: a killed server also leaves a shared memory segment, which its lock file names. */
  | { readonly made: "postgresData"; readonly path: string }
  /** A database on the server that DATABASE_URL names. `server` is its host and port: no password is written down. */
  | { readonly made: "database"; readonly server: string; readonly database: string };

const recordFile = (folder: string): string => join(folder, "run.json");
const journalFile = (folder: string): string => join(folder, "journal.ndjson");

export function writeRunRecord(folder: string, record: RunRecord): void {
  writeFileSync(recordFile(folder), `${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** @returns undefined when there is none, or none that can be read. */
export function readRunRecord(folder: string): RunRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(folder), "utf8")) as RunRecord;
  } catch {
    return undefined;
  }
}

export function appendToJournal(folder: string, entry: JournalEntry): void {
  appendFileSync(journalFile(folder), `${JSON.stringify(entry)}\n`, { mode: 0o600 });
}

/** All entries in the order they were made. The last line may be cut short by the kill: it is passed over. */
export function readJournal(folder: string): JournalEntry[] {
  let text: string;
  try {
    text = readFileSync(journalFile(folder), "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as JournalEntry];
    } catch {
      return [];
    }
  });
}
