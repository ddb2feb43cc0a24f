/**
 * The guardian of one run: `node guardian/main.js RUN_FOLDER`, in a session of its own, standard input held by the
 * run's main process. It does nothing until the main process, or what launched it, is gone; then it undoes what
 * the run's journal names and ends.
 *
 * The pipe carries no messages. It only closes, and the system closes it however the main process died.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { launchersOf } from "../ancestors.js";
import { cleanUpRun } from "../clean-up.js";
import { messageOf } from "../errors.js";
import { isSameProcess, type ProcessRow } from "../process-table.js";
import { signalProcess } from "../process-tree.js";
import { readRunRecord, type RunRecord } from "../run-journal.js";

/** A look costs some reads in /proc; a quarter of a second later than at once is soon enough for a person. */
const launcherLookMs = 250;
/** The main process may close by itself first: that drops its databases and ends its children in order. */
const closeByItselfMsMax = 3_000;

async function main(): Promise<void> {
  const folder = process.argv[2];
  const record = folder === undefined ? undefined : readRunRecord(folder);
  if (folder === undefined || record === undefined)
    throw new Error(`no run record in ${folder ?? "(no folder)"}`);
  // A closed terminal or a Ctrl-C is for the main process to handle; the guardian outlives it by a moment.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

  const pipeClosed = new Promise<"mainEnded">((resolve) => {
    process.stdin.on("close", () => resolve("mainEnded"));
    process.stdin.on("error", () => resolve("mainEnded"));
    process.stdin.resume();
  });
  const launchers = launchersOf(record.pid);
  const why = await Promise.race([pipeClosed, launcherEnded(launchers)]);
  const killMain = why === "launcherEnded" && !(await closedByItself(record, pipeClosed));
  // A pipe that closed while the main process lives was closed by it, at the end of its own clean-up.
  const isMain = (row: ProcessRow): boolean =>
    killMain && row.pid === record.pid && row.startedAt === record.startedAt;
  const { left } = await cleanUpRun(folder, record.id, isMain);
  if (left.length > 0) throw new Error(`run ${record.id} left behind: ${left.join("; ")}`);
}

async function launcherEnded(launchers: readonly ProcessRow[]): Promise<"launcherEnded"> {
  while (launchers.every((row) => isSameProcess(row.pid, row.startedAt))) {
    await delay(launcherLookMs, undefined, { ref: false });
  }
  return "launcherEnded";
}

async function closedByItself(record: RunRecord, pipeClosed: Promise<unknown>): Promise<boolean> {
  if (!isSameProcess(record.pid, record.startedAt)) return true;
  signalProcess(record.pid, "SIGTERM");
  const closed = pipeClosed.then(() => true);
  return Promise.race([closed, delay(closeByItselfMsMax, false)]);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    // The run folder may be gone, and there is no terminal: a file beside the run folders is where one would look.
    try {
      appendFileSync(`${process.argv[2] ?? "."}.guardian.log`, `${messageOf(error)}\n`);
    } finally {
      process.exit(1);
    }
  },
);
