/**
 * One run of a demo, a lab or a test rig: a folder, the processes in it, and the promise that both are gone
 * afterwards, whether the run closes, is interrupted, or is killed.
 */
import { join } from "node:path";
import { cleanUpRun } from "./clean-up.js";
import { messageOf } from "./errors.js";
import { startGuardian, type Guardian } from "./guardian/start.js";
import { startProcess, type ManagedProcess, type ProcessSpec } from "./managed-process.js";
import { packageRoot } from "./package-root.js";
import { appendToJournal, type JournalEntry } from "./run-journal.js";
import { makeRunFolder, sweepDeadRuns } from "./run-folders.js";
import { closeOnSignals } from "./signals.js";

export interface RunOptions {
  /** Part of the run's id: `demo`, `lab`. Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Folder of the run folders; `.killproof` in the package by default. */
  readonly runsFolder?: string;
  /**
   * Close on SIGINT, SIGTERM and SIGHUP and exit with 128 + the signal's number; default true. False inside a
   * host with its own handling, as a test runner: the guardian still cleans up when the host is gone.
   */
  readonly handleSignals?: boolean;
  /** Gets one line when something is worth a person's notice; standard error by default. */
  readonly notice?: (line: string) => void;
}

export interface Run {
  readonly id: string;
  /** Logs, and whatever the run wants to keep until it ends. */
  readonly folder: string;
  /** Aborted when the run starts to close, also by a signal. */
  readonly closing: AbortSignal;
  /** Starts a child that ends with this run: see `ProcessSpec`. @throws UserFacingError */
  spawn(spec: ProcessSpec): Promise<ManagedProcess>;
  /** Has `act` called when the run closes, in reverse order of these calls and of spawned processes. */
  onClose(name: string, act: () => Promise<unknown>): void;
  /** Writes down, before it is made or at once after, something that must not outlive the run. */
  journal(entry: JournalEntry): void;
  /** One line for the person who watches. */
  notice(line: string): void;
  /**
   * Stops everything in reverse order and removes the run folder. Calling it again gives the same promise.
   *
   * @throws AggregateError when something could not be stopped or removed; the rest has been.
   */
  close(): Promise<void>;
}

/** Opens a run; the remains of dead runs are swept first. @throws UserFacingError when the project isn't built. */
export async function openRun(options: RunOptions): Promise<Run> {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(options.name)) {
    throw new Error(`run name "${options.name}": allowed are lower-case letters, digits and hyphens`);
  }
  const notice = options.notice ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const runsFolder = options.runsFolder ?? join(packageRoot(), ".killproof");
  for (const remains of await sweepDeadRuns(runsFolder)) notice(`Left by a dead run: ${remains}`);
  const { folder, record } = makeRunFolder(runsFolder, options.name);
  const guardian = await startGuardian(folder, (reason) => {
    notice(`Nothing will clean up if this process is killed: ${reason}.`);
  });
  const run = new OpenRun(record.id, folder, guardian, notice);
  if (options.handleSignals ?? true)
    run.onClose(
      "signals",
      closeOnSignals(() => run.close(), notice),
    );
  return run;
}

class OpenRun implements Run {
  readonly #closing = new AbortController();
  readonly #closers: { readonly name: string; readonly act: () => Promise<unknown> }[] = [];
  readonly #starting = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(
    readonly id: string,
    readonly folder: string,
    readonly guardian: Guardian,
    readonly notice: (line: string) => void,
  ) {}

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async spawn(spec: ProcessSpec): Promise<ManagedProcess> {
    this.#mustBeOpen(spec.name);
    const starting = startProcess(this.folder, this.id, spec).then((started) => {
      this.onClose(spec.name, () => started.stop());
      return started;
    });
    const settled = starting.catch(() => undefined);
    this.#starting.add(settled);
    void settled.then(() => this.#starting.delete(settled));
    return starting;
  }

  onClose(name: string, act: () => Promise<unknown>): void {
    this.#closers.push({ name, act });
  }

  journal(entry: JournalEntry): void {
    this.#mustBeOpen(entry.made);
    appendToJournal(this.folder, entry);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #mustBeOpen(name: string): void {
    if (this.#closing.signal.aborted)
      throw new Error(`run ${this.id} is closing; ${name} can't be added any more`);
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const failed: Error[] = [];
    const attempt = async (name: string, act: () => Promise<unknown>): Promise<void> => {
      await act().catch((error: unknown) => {
        failed.push(new Error(`${name}: ${messageOf(error)}`, { cause: error }));
      });
    };
    // A child that is just being started has to be known before it can be stopped.
    await Promise.all(this.#starting);
    while (this.#closers.length > 0) {
      const closer = this.#closers.pop();
      if (closer !== undefined) await attempt(closer.name, closer.act);
    }
    // The guardian works through the journal once more, so what failed above is killed or removed by it.
    await attempt("guardian", () => this.guardian.release());
    // And so does this process, in case there was no guardian left.
    const { left } = await cleanUpRun(this.folder, this.id);
    for (const remains of left) failed.push(new Error(`left behind: ${remains}`));
    if (failed.length > 0) throw new AggregateError(failed, `run ${this.id} did not close cleanly`);
  }
}
