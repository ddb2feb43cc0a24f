/**
 * Ending processes together with everything they started. A process group alone is not enough: every Postgres
 * backend makes a session, and so a group, of its own, and one that is left alive keeps the data folder in use.
 */
import { codeOf } from "./errors.js";
import { processTable, type ProcessRow } from "./process-table.js";

/** The given processes and all their descendants. */
export function withDescendants(roots: readonly ProcessRow[], table: readonly ProcessRow[]): ProcessRow[] {
  const found = new Map(roots.map((row) => [row.pid, row]));
  for (let grown = true; grown;) {
    grown = false;
    for (const row of table) {
      if (found.has(row.pid) || !found.has(row.parent)) continue;
      found.set(row.pid, row);
      grown = true;
    }
  }
  return [...found.values()];
}

function hasMembers(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    // Anything but "no such group" is for the caller's kill to report.
    return codeOf(error) !== "ESRCH";
  }
}

/**
 * Sends a signal; false when the process has ended already, or belongs to someone whose processes we may not end:
 * one such in a tree must not keep the others alive.
 */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (codeOf(error) === "ESRCH" || codeOf(error) === "EPERM") return false;
    throw error;
  }
}

/**
 * A tree that grows faster than we can look at it is a fork bomb; after so many looks its parents are stopped
 * anyway and the next call sees the rest.
 */
const looksMax = 10;

/**
 * A guardian is spared: one inside the tree belongs to an inner run, which it cleans up when its own main process
 * has been killed, and then it ends.
 */
const isGuardian = (row: ProcessRow): boolean => row.command.includes("/platform/guardian/main.js");

/**
 * SIGKILL to what `choose` picks from the process table, and to all descendants. Each is stopped first, until a
 * new look finds no further one: a child of a killed parent is nobody's child any more and could not be found.
 *
 * @returns how many were killed. They have ended when a later look doesn't find them.
 */
export function killTree(choose: (table: readonly ProcessRow[]) => readonly ProcessRow[]): number {
  const stopped = new Set<number>();
  for (let look = 0; look < looksMax; look += 1) {
    const table = processTable().filter((row) => row.pid !== process.pid);
    const fresh = withDescendants(choose(table), table).filter(
      (row) => !stopped.has(row.pid) && !isGuardian(row),
    );
    if (fresh.length === 0) break;
    for (const { pid } of fresh) if (signalProcess(pid, "SIGSTOP")) stopped.add(pid);
  }
  for (const pid of stopped) signalProcess(pid, "SIGKILL");
  return stopped.size;
}

/**
 * The leader of a process group, the rest of the group, and their descendants: see `killTree`. Nothing happens
 * when the group has no members.
 */
export function killGroup(group: number): number {
  // One call to the system instead of a look at every process; the usual case when a child has just ended.
  if (!hasMembers(group)) return 0;
  return killTree((table) => table.filter((row) => row.group === group));
}
