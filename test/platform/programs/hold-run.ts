/**
 * A main process for tests to kill: opens a run, starts what its settings ask for, prints one JSON line that says
 * what there is, and then holds still until it is asked to end.
 */
import { spawn } from "node:child_process";
import { openRun, startDatabase, UserFacingError } from "../../../platform/index.js";
import { runMarker } from "../../../platform/run-journal.js";

export interface HoldRunSettings {
  readonly runsFolder: string;
  /** Child processes, each with a grandchild in a session of its own. */
  readonly children?: number;
  /** Start a database: embedded, or on the server of DATABASE_URL. */
  readonly database?: boolean;
  /** Start a process that the run's journal doesn't name, as when the run is killed just after it. */
  readonly stray?: boolean;
  /** Close by itself when everything is started. */
  readonly close?: boolean;
}

export interface HoldRunReady {
  readonly id: string;
  readonly pid: number;
  readonly folder: string;
  readonly guardian: number;
  readonly processes: readonly number[];
  readonly databaseUrl?: string;
}

const settings = JSON.parse(process.argv[2] ?? "{}") as HoldRunSettings;

try {
  const run = await openRun({ name: "held", runsFolder: settings.runsFolder });
  const processes: number[] = [];
  for (let index = 0; index < (settings.children ?? 0); index += 1) {
    const child = await run.spawn({ name: `child-${index}`, entry: "test/platform/programs/child.js" });
    processes.push(child.pid, Number(child.ready["grandchild"]));
  }
  const database = settings.database ? await startDatabase(run, { name: "held" }) : undefined;
  if (database?.server !== undefined) processes.push(database.server.pid);
  if (settings.stray) {
    const environment = { ...process.env, [runMarker]: run.id };
    const stray = spawn("sleep", ["600"], { detached: true, stdio: "ignore", env: environment });
    processes.push(stray.pid ?? -1);
  }
  const guardian = (run as unknown as { guardian: { pid: number } }).guardian.pid;
  const ready: HoldRunReady = {
    id: run.id,
    pid: process.pid,
    folder: run.folder,
    guardian,
    processes,
    ...(database === undefined ? {} : { databaseUrl: database.url }),
  };
  process.stdout.write(`${JSON.stringify({ event: "ready", ...ready })}\n`);
  if (settings.close) await run.close();
  // Without a run nothing holds the process; with one, its children do.
  else setInterval(() => undefined, 60_000);
} catch (error) {
  if (!(error instanceof UserFacingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
