import { spawn, type ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { runMarker } from "../run-journal.js";
import { compiledEntry } from "../package-root.js";

export interface Guardian {
  readonly pid: number;
  /** Closes the pipe and waits until the guardian has found that nothing is left, and has ended. */
  release(): Promise<void>;
}

/** A guardian that dies is started again; one that dies this often can't run here, and saying so is better. */
const restartsMax = 3;

/**
 * Starts the guardian of a run folder. It is started again if someone ends it.
 *
 * @param onLost called when it could not be kept running: from then on only the next run cleans up.
 */
export async function startGuardian(folder: string, onLost: (reason: string) => void): Promise<Guardian> {
  const entry = compiledEntry("platform/guardian/main.js");
  const { [runMarker]: _outerRun, ...environment } = process.env;
  let released = false;
  let restarts = 0;
  let current: ChildProcess;

  const start = (): ChildProcess => {
    const child = spawn(process.execPath, [entry, folder], {
      // A session of its own: Ctrl-C and a closed terminal reach only the session's other processes.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      // Without an outer run's marker: when that run is ended, this guardian still has its own work to do.
      env: environment,
      cwd: "/",
    });
    child.stdin?.on("error", () => undefined);
    child.on("error", (error) => onLost(`the guardian process could not be started: ${error.message}`));
    child.on("exit", (code, signal) => {
      if (released) return;
      restarts += 1;
      if (restarts > restartsMax) onLost(`the guardian process ended (${signal ?? `exit code ${code}`})`);
      else current = start();
    });
    // Neither the guardian nor its pipe keeps the main process from ending.
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    return child;
  };

  current = start();
  await new Promise<void>((resolve, reject) => {
    current.once("spawn", resolve);
    current.once("error", reject);
  });
  return {
    get pid() {
      return current.pid ?? -1;
    },
    async release() {
      released = true;
      const child = current;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.ref();
      child.stdin?.end();
      await ended;
    },
  };
}
