/** Undoing what a run's journal names. Safe to call twice and by two processes at once. */
import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { dropDatabase, serverOf } from "./database-server.js";
import { messageOf } from "./errors.js";
import { releaseSharedMemory } from "./postgres/shared-memory.js";
import { processesWithEnvironment, processTable, type ProcessRow } from "./process-table.js";
import { killTree } from "./process-tree.js";
import { readJournal, runMarker, type JournalEntry } from "./run-journal.js";

/**
 * Long enough for a loaded machine to reap some dozens of processes, short enough that a killed run has left
 * nothing behind 10 s later, the drop of its databases included.
 */
const endingMsMax = 6_000;
const lookAgainMs = 25;

export interface CleanUpResult {
  /** What could not be undone, one line each; empty when nothing is left. */
  readonly left: readonly string[];
}

/**
 * Kills everything that the run started, drops its databases, removes its folders and the run folder itself. The
 * run folder stays when a database could not be dropped, so that a later run can try again.
 *
 * @param alsoKill processes besides those in the journal, their descendants included.
 */
export async function cleanUpRun(
  folder: string,
  runId: string,
  alsoKill: (row: ProcessRow) => boolean = () => false,
): Promise<CleanUpResult> {
  const left: string[] = [];
  const survivors = await endProcesses(folder, runId, alsoKill);
  for (const row of survivors) left.push(`process ${row.pid} (${row.command})`);
  const journal = readJournal(folder);
  let keepFolder = false;
  for (const entry of journal) {
    if (entry.made !== "database") continue;
    const problem = await dropIfSameServer(entry.server, entry.database);
    if (problem === undefined) continue;
    left.push(problem);
    keepFolder = true;
  }
  for (const entry of journal) {
    if (entry.made === "postgresData") releaseSharedMemory(entry.path);
    if (entry.made === "folder" || entry.made === "postgresData") await remove(entry.path, left);
  }
  if (!keepFolder) await remove(folder, left);
  return { left };
}

async function endProcesses(
  folder: string,
  runId: string,
  alsoKill: (row: ProcessRow) => boolean,
): Promise<ProcessRow[]> {
  const choose = (table: readonly ProcessRow[]): ProcessRow[] => {
    const isOurs = membersOf(readJournal(folder), table);
    // Found by marker as well: the run may have been killed between starting a child and writing it down.
    const marked = new Set(processesWithEnvironment(runMarker, runId).map((row) => row.pid));
    return table.filter((row) => isOurs(row) || marked.has(row.pid) || alsoKill(row));
  };
  const remaining = (): ProcessRow[] => choose(processTable().filter((row) => row.pid !== process.pid));
  const givenUpAt = Date.now() + endingMsMax;
  for (;;) {
    if (killTree(choose) === 0) return [];
    await delay(lookAgainMs);
    if (Date.now() > givenUpAt) return remaining();
  }
}

/** Which rows belong to a group in the journal that has not ended, and whose number is still that group's. */
export function membersOf(
  journal: readonly JournalEntry[],
  table: readonly ProcessRow[],
): (row: ProcessRow) => boolean {
  const startOf = new Map(table.map((row) => [row.pid, row.startedAt]));
  const groups = new Set<number>();
  for (const entry of journal) {
    if (entry.made === "groupEnded") groups.delete(entry.pid);
    if (entry.made !== "group") continue;
    const leaderStart = startOf.get(entry.pid);
    // A number is not given out again while a group of that number has members, so a group without its leader is ours.
    if (leaderStart === undefined || leaderStart === entry.startedAt) groups.add(entry.pid);
  }
  return (row) => groups.has(row.group);
}

async function dropIfSameServer(server: string, database: string): Promise<string | undefined> {
  const url = process.env["DATABASE_URL"];
  if (url === undefined || serverOf(url) !== server) {
    return `database ${database} on ${server}: set DATABASE_URL to that server and start any run to have it dropped`;
  }
  try {
    await dropDatabase(url, database);
    return undefined;
  } catch (error) {
    return `database ${database} on ${server}: ${messageOf(error)}`;
  }
}

async function remove(path: string, left: string[]): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  } catch (error) {
    left.push(`${path}: ${messageOf(error)}`);
  }
}
