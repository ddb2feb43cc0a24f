/**
 * Killing `npm` alone reaches neither the shell that npm started nor the Node process in it: they would run on
 * with nobody to end them. So a run ends when any process between it and the npm command ends.
 */
import { processRow, type ProcessRow } from "./process-table.js";

/** npm names itself ("npm run demo"); before it does, its command line shows its script. */
const isNpm = (row: ProcessRow): boolean => /^npm( |$)|[/\\](npm|npx)(-cli\.js)?( |$)/.test(row.command);

/** More levels than any chain of scripts has; a limit for the case that the table changes under our feet. */
const levelsMax = 64;

/**
 * The processes that must live for `pid` to go on: its ancestors up to and including the topmost npm within its
 * session. Empty when no npm started it: a program started by hand outlives its shell, as `nohup` users expect.
 */
export function launchersOf(
  pid: number,
  lookUp: (pid: number) => ProcessRow | undefined = processRow,
): ProcessRow[] {
  const self = lookUp(pid);
  const chain: ProcessRow[] = [];
  let row = self;
  while (row !== undefined && row.parent > 1 && chain.length < levelsMax) {
    row = lookUp(row.parent);
    if (row === undefined || row.session !== self?.session) break;
    chain.push(row);
  }
  return chain.slice(0, chain.findLastIndex(isNpm) + 1);
}
