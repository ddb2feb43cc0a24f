/** The folders `.killproof/<run id>/`: made for a run, and swept when their run is dead. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { cleanUpRun } from "./clean-up.js";
import { messageOf, UserFacingError } from "./errors.js";
import { isSameProcess, processRow, thisMachine } from "./process-table.js";
import { readRunRecord, writeRunRecord, type RunRecord } from "./run-journal.js";

/** A folder gets its name only when its record is in it, so that a sweeper never sees one without. */
const unfinishedPrefix = ".unfinished-";
/** Writing a record takes a millisecond; a folder still unfinished after this was left by a killed process. */
const unfinishedMsMax = 60_000;

/** Makes the folder of a new run of this process. */
export function makeRunFolder(
  runsFolder: string,
  name: string,
): { readonly folder: string; readonly record: RunRecord } {
  const id = `${name}-${process.pid}-${randomBytes(3).toString("hex")}`;
  const startedAt = processRow(process.pid)?.startedAt;
  if (startedAt === undefined) throw new Error("this process is not in the process table");
  const record: RunRecord = { id, name, pid: process.pid, startedAt, machine: thisMachine() };
  const unfinished = join(runsFolder, `${unfinishedPrefix}${id}`);
  try {
    mkdirSync(runsFolder, { recursive: true });
    // Logs and journals can name what only this user should read.
    mkdirSync(unfinished, { mode: 0o700 });
  } catch (error) {
    throw new UserFacingError(`no folder for this run can be made in ${runsFolder}: ${messageOf(error)}`, 2, {
      cause: error,
    });
  }
  writeRunRecord(unfinished, record);
  const folder = join(runsFolder, id);
  renameSync(unfinished, folder);
  return { folder, record };
}

/**
 * Is the run's main process surely dead? A run on another machine (a shared folder) or in another container can't
 * be judged from here, and a live run that is swept costs more than a dead one that stays.
 */
export function isDeadRun(record: RunRecord): boolean {
  const here = thisMachine();
  if (record.machine.hostname !== here.hostname) return false;
  if (record.machine.boot !== here.boot) return true;
  if (record.machine.pidNamespace !== here.pidNamespace) return false;
  return !isSameProcess(record.pid, record.startedAt);
}

/**
 * Cleans up after every dead run in the folder; live ones are left alone.
 *
 * @returns what could not be removed, one line each.
 */
export async function sweepDeadRuns(runsFolder: string): Promise<string[]> {
  const left: string[] = [];
  for (const entry of listFolders(runsFolder)) {
    const folder = join(runsFolder, entry);
    const record = readRunRecord(folder);
    const dead = record === undefined ? isAbandoned(folder, entry) : isDeadRun(record);
    if (!dead) continue;
    const result = await cleanUpRun(folder, record?.id ?? entry);
    left.push(...result.left);
  }
  return left;
}

function listFolders(runsFolder: string): string[] {
  try {
    return readdirSync(runsFolder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** A folder without a record: half made, or half removed by another sweeper or a guardian. */
function isAbandoned(folder: string, name: string): boolean {
  try {
    const isOurs =
      name.startsWith(unfinishedPrefix) ||
      readdirSync(folder).every((file) => file === "logs" || file === "journal.ndjson");
    return isOurs && Date.now() - statSync(folder).mtimeMs > unfinishedMsMax;
  } catch {
    return false;
  }
}
