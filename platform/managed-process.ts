/** One child process of a run: started, awaited until it is ready, killed or stopped, and never forgotten. */
import { spawn, type ChildProcess } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Readable } from "node:stream";
import { messageOf, UserFacingError } from "./errors.js";
import { compiledEntry } from "./package-root.js";
import { processRow } from "./process-table.js";
import { killGroup, signalProcess } from "./process-tree.js";
import { appendToJournal, runMarker } from "./run-journal.js";

export interface ProcessSpec {
  /** What it is called in messages, and the name of its log file. */
  readonly name: string;
  /** A compiled entry point under `dist`, `services/world/main.js`; started with this Node. */
  readonly entry?: string;
  /** Anything else: program and arguments. Exactly one of `entry` and `command` is given. */
  readonly command?: readonly string[];
  /** Arguments after `entry`. */
  readonly args?: readonly string[];
  /** Added to this process's environment, or all of it when `inheritEnv` is false. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default true. False for foreign programs that our environment could mislead. */
  readonly inheritEnv?: boolean;
  /** Working folder; the run folder by default, so that no stray file lands in the project. */
  readonly cwd?: string;
  /** Run as this account; only root may. */
  readonly account?: { readonly uid: number; readonly gid: number };
  /** Milliseconds to become ready; default 30,000, because two cores may be shared with a whole build. */
  readonly readyTimeoutMs?: number;
  /**
   * Gets each line of standard output and error until it gives something truthy: an object becomes
   * `ManagedProcess.ready`. Default: a JSON line with `"event":"ready"`. `"spawned"` waits for nothing; a `probe`
   * is asked again and again until it gives true, for programs that don't say when they are ready.
   */
  readonly ready?: ((line: string) => unknown) | "spawned" | { readonly probe: () => Promise<boolean> };
  /** Sent by `stop`; default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
  /** How long `stop` waits before SIGKILL; default 10,000 ms, more than any graceful drain here takes. */
  readonly stopTimeoutMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  /** What the process said when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly logFile: string;
  /** Settles when the process has ended, for whatever reason. Never rejects. */
  readonly exited: Promise<Exit>;
  /**
   * Sends a signal that ends it and waits for the end. SIGKILL goes to all its descendants too, whatever group
   * they made for themselves; other signals go to its group.
   */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  /** Sends a signal to its group and waits for nothing: SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void;
  /** Lets it drain (SIGTERM to the process alone), and kills it when that takes too long. */
  stop(): Promise<Exit>;
}

const readyMsDefault = 30_000;
const stopMsDefault = 10_000;
/**
 * A dead child's last lines are still on their way. They are waited for, but not for ever: what it started itself
 * may hold its standard output open.
 */
const logMsMax = 500;
/** So many lines of a dead child's log go into the error: enough for a stack, few enough to read. */
const quotedLinesMax = 20;

/** The ready line of our own processes. */
export function readyEvent(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value = JSON.parse(line) as Record<string, unknown>;
    return value["event"] === "ready" ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Starts a child of the run in `runFolder`, in a process group of its own, and waits until it is ready.
 *
 * @throws UserFacingError when it can't be started, ends before it is ready or takes too long; its last log lines
 * are quoted, and nothing of it is left running.
 */
export async function startProcess(
  runFolder: string,
  runId: string,
  spec: ProcessSpec,
): Promise<ManagedProcess> {
  const child = spawnChild(runFolder, runId, spec);
  const log = openLog(runFolder, spec.name, child);
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      const logged = Promise.race([log.written, delay(logMsMax, undefined, { ref: false })]);
      void logged.then(() => resolve({ code, signal }));
    });
  });
  await spawned(child, spec);
  const pid = child.pid ?? -1;
  const startedAt = processRow(pid)?.startedAt ?? "";
  appendToJournal(runFolder, { made: "group", name: spec.name, pid, startedAt });
  child.once("exit", () => {
    // Whatever it started has lost the one process that would have ended it.
    killGroup(pid);
    try {
      appendToJournal(runFolder, { made: "groupEnded", pid });
    } catch {
      // The run folder has been removed: nobody reads the journal any more.
    }
  });
  const ready = await readiness(spec, child, exited, log).catch(async (error: unknown) => {
    killGroup(pid);
    await exited;
    throw error;
  });
  return {
    name: spec.name,
    pid,
    ready,
    logFile: log.file,
    exited,
    kill: (signal) =>
      endBy(child, exited, () => (signal === "SIGKILL" ? killGroup(pid) : signalGroup(pid, signal))),
    signal: (signal) => {
      if (isRunning(child)) signalGroup(pid, signal);
    },
    stop: async () => {
      const late = setTimeout(() => killGroup(pid), spec.stopTimeoutMs ?? stopMsDefault);
      try {
        return await endBy(child, exited, () => signalProcess(pid, spec.stopSignal ?? "SIGTERM"));
      } finally {
        clearTimeout(late);
      }
    },
  };
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

/** The group's number is its leader's pid, and a negative pid is how the system addresses a group. */
const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => signalProcess(-pid, signal);

async function endBy(child: ChildProcess, exited: Promise<Exit>, act: () => unknown): Promise<Exit> {
  // A number may be given to another process as soon as its former holder was reaped.
  if (isRunning(child)) act();
  return exited;
}

function spawnChild(runFolder: string, runId: string, spec: ProcessSpec): ChildProcess {
  if ((spec.entry === undefined) === (spec.command === undefined)) {
    throw new Error(`process ${spec.name}: give exactly one of entry and command`);
  }
  const [program = "", ...args] = spec.command ?? [process.execPath, compiledEntry(spec.entry ?? "")];
  return spawn(program, [...args, ...(spec.args ?? [])], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    cwd: spec.cwd ?? runFolder,
    env: { ...(spec.inheritEnv === false ? {} : process.env), ...spec.env, [runMarker]: runId },
    ...spec.account,
  });
}

async function spawned(child: ChildProcess, spec: ProcessSpec): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) =>
      reject(
        new UserFacingError(`${spec.name} could not be started: ${messageOf(error)}`, 2, { cause: error }),
      ),
    );
  });
}

interface ProcessLog {
  readonly file: string;
  /** Called with each line until it is replaced by undefined. */
  onLine: ((line: string) => void) | undefined;
  readonly lastLines: string[];
  /** Settles when all output has been read and is in the file, or can't be written. */
  readonly written: Promise<void>;
}

function openLog(runFolder: string, name: string, child: ChildProcess): ProcessLog {
  const folder = join(runFolder, "logs");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.log`);
  const stream = createWriteStream(file, { flags: "a" });
  // A full disk, or a run folder that someone removed, must not end the run: the log is lost, the process lives.
  stream.on("error", () => undefined);
  const written = new Promise<void>((resolve) => stream.once("close", resolve));
  const log: ProcessLog = { file, onLine: undefined, lastLines: [], written };
  const sources = [child.stdout, child.stderr].filter((source): source is Readable => source !== null);
  let open = sources.length;
  for (const source of sources) {
    source.pipe(stream, { end: false });
    source.once("close", () => {
      open -= 1;
      if (open === 0) stream.end();
    });
    createInterface({ input: source }).on("line", (line) => {
      log.lastLines.push(line);
      if (log.lastLines.length > quotedLinesMax) log.lastLines.shift();
      log.onLine?.(line);
    });
  }
  return log;
}

async function readiness(
  spec: ProcessSpec,
  child: ChildProcess,
  exited: Promise<Exit>,
  log: ProcessLog,
): Promise<Record<string, unknown>> {
  if (spec.ready === "spawned") return {};
  const condition = spec.ready ?? readyEvent;
  const timeoutMs = spec.readyTimeoutMs ?? readyMsDefault;
  const quoted = (): string =>
    log.lastLines.length === 0 ? "It printed nothing." : `Its last lines:\n  ${log.lastLines.join("\n  ")}`;
  const decided = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Record<string, unknown>>((resolve, reject) => {
      if (typeof condition === "function") {
        log.onLine = (line) => {
          const found = condition(line);
          if (found) resolve(typeof found === "object" ? (found as Record<string, unknown>) : {});
        };
      } else {
        void askUntilTrue(condition.probe, decided.signal).then(() => resolve({}), reject);
      }
      timer = setTimeout(() => {
        reject(new UserFacingError(`${spec.name} was not ready within ${timeoutMs} ms. ${quoted()}`));
      }, timeoutMs);
      void exited.then(({ code, signal }) => {
        const how = signal === null ? `exit code ${code}` : signal;
        reject(new UserFacingError(`${spec.name} ended (${how}) before it was ready. ${quoted()}`));
      });
      child.once("error", reject);
    });
  } finally {
    clearTimeout(timer);
    decided.abort();
    log.onLine = undefined;
  }
}

/** A refused connection costs next to nothing, and a server that is ready in 200 ms shouldn't be waited for longer. */
const probeWaitMs = 20;

async function askUntilTrue(probe: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await probe())) await delay(probeWaitMs);
}
