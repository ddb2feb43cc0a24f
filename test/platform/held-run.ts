/** Starting, watching and counting main processes that tests kill. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { compiledEntry } from "../../platform/package-root.js";
import { processTable, processesWithEnvironment, type ProcessRow } from "../../platform/process-table.js";
import { killTree } from "../../platform/process-tree.js";
import { runMarker } from "../../platform/run-journal.js";
import type { HoldRunReady, HoldRunSettings } from "./programs/hold-run.js";

const testMarker = "KILLPROOF_TEST";
/** What the platform promises: nothing is left this long after a kill. */
export const goneMsMax = 10_000;

export interface HeldRun {
  readonly ready: HoldRunReady;
  /** What the test started: the main process itself, or what launched it. */
  readonly launcher: ChildProcess;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** A folder for runs, and the means to start main processes in it and to see what is left of them. */
export class RunBench {
  readonly folder = mkdtempSync(join(tmpdir(), "killproof-bench-"));
  readonly #marker = randomUUID();
  readonly #runIds = new Set<string>();

  get runsFolder(): string {
    return join(this.folder, "runs");
  }

  /** Every process that this bench's runs brought into the world and that still runs, guardians included. */
  processes(): ProcessRow[] {
    const found = new Map<number, ProcessRow>();
    const marked = [
      ...processesWithEnvironment(testMarker, this.#marker),
      ...[...this.#runIds].flatMap((id) => processesWithEnvironment(runMarker, id)),
      ...processTable().filter((row) => row.command.includes(this.folder)),
    ];
    for (const row of marked) if (row.pid !== process.pid) found.set(row.pid, row);
    return [...found.values()];
  }

  /** The command line of a main process. */
  command(settings: Omit<HoldRunSettings, "runsFolder">): [string, ...string[]] {
    const all: HoldRunSettings = { runsFolder: this.runsFolder, ...settings };
    return [process.execPath, compiledEntry("test/platform/programs/hold-run.js"), JSON.stringify(all)];
  }

  /** Starts a main process, or the command that starts one, in a session of its own, and waits until it is ready. */
  async start(
    command: readonly [string, ...string[]],
    options: { env?: Record<string, string>; cwd?: string; uid?: number; gid?: number } = {},
  ): Promise<HeldRun> {
    const [program, ...args] = command;
    const launcher = spawn(program, args, {
      ...options,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...options.env, [testMarker]: this.#marker },
    });
    const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
      launcher.once("exit", (code, signal) => resolve({ code, signal }));
    });
    const lines: string[] = [];
    const ready = await new Promise<HoldRunReady>((resolve, reject) => {
      launcher.once("error", reject);
      for (const stream of [launcher.stdout, launcher.stderr]) {
        createInterface({ input: stream }).on("line", (line) => {
          lines.push(line);
          if (line.startsWith('{"event":"ready"')) resolve(JSON.parse(line) as HoldRunReady);
        });
      }
      launcher.once("close", () => reject(new Error(lines.join("\n"))));
    });
    this.#runIds.add(ready.id);
    return { ready, launcher, exited };
  }

  /** Waits until nothing is left of a run: no process of it, and no folder. */
  async expectGone(held: HeldRun): Promise<number> {
    const since = Date.now();
    // oxlint-disable-next-line vitest/no-standalone-expect -- only tests call this
    await expect
      .poll(
        () => ({
          processes: this.processes().map(({ pid, command }) => `${pid} ${command}`),
          folder: existsSync(held.ready.folder),
        }),
        { timeout: goneMsMax, interval: 50 },
      )
      .toEqual({ processes: [], folder: false });
    return Date.now() - since;
  }

  /** For afterEach: ends whatever a test left, and fails it for that. */
  dispose(): void {
    const left = this.processes();
    const pids = new Set(left.map((row) => row.pid));
    killTree((table) => table.filter((row) => pids.has(row.pid)));
    rmSync(this.folder, { recursive: true, force: true });
    if (left.length === 0) return;
    throw new Error(
      `processes left by the test:\n${left.map((row) => `${row.pid} ${row.command}`).join("\n")}`,
    );
  }
}
