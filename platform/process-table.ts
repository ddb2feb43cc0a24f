/**
 * Who runs on this machine. Linux tells it in /proc; elsewhere (macOS) `ps` does. Synchronous on purpose: a
 * snapshot that is taken over several turns of the event loop is no snapshot.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in the system's own words. Together with the pid it names one process until the next boot. */
  readonly startedAt: string;
  readonly command: string;
}

const hasProc = process.platform === "linux";

/** Everything that runs, without zombies: a zombie does nothing any more, and only its parent can remove it. */
export function processTable(): ProcessRow[] {
  return hasProc ? readdirSync("/proc").flatMap(rowFromProc) : rowsFromPs();
}

/** The row of one process, or undefined when there is none or it has ended. */
export function processRow(pid: number): ProcessRow | undefined {
  if (hasProc) return rowFromProc(String(pid))[0];
  return rowsFromPs(["-p", String(pid)])[0];
}

/** True when exactly this process still runs, and not another one that got its number. */
export function isSameProcess(pid: number, startedAt: string): boolean {
  return processRow(pid)?.startedAt === startedAt;
}

/** Processes whose environment held `name=value` when they were started; only those that we may look into. */
export function processesWithEnvironment(name: string, value: string): ProcessRow[] {
  const marker = `${name}=${value}`;
  if (hasProc) {
    return processTable().filter(
      (row) => readProc(row.pid, "environ")?.split("\0").includes(marker) ?? false,
    );
  }
  const holders = new Set(
    ps(["-axEww", "-o", "pid=,command="])
      .filter((line) => line.split(" ").includes(marker))
      .map((line) => Number.parseInt(line, 10)),
  );
  return processTable().filter((row) => holders.has(row.pid));
}

/** What a process number means something in: the machine, the time since its boot, and the pid namespace. */
export interface Machine {
  readonly hostname: string;
  readonly boot: string;
  readonly pidNamespace: string;
}

export function thisMachine(): Machine {
  if (!hasProc) {
    const boot = execFileSync("sysctl", ["-n", "kern.boottime"], { encoding: "utf8" }).trim();
    return { hostname: hostname(), boot, pidNamespace: "" };
  }
  return {
    hostname: hostname(),
    boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    pidNamespace: readlinkSync("/proc/self/ns/pid"),
  };
}

function readProc(pid: number | string, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It ended in the meantime, or belongs to someone whose processes we may not look into.
    return undefined;
  }
}

/** Fields of /proc/PID/stat after the command, which stands in brackets and may itself hold spaces and brackets. */
const field = { state: 0, parent: 1, group: 2, session: 3, startTicks: 19 } as const;

function rowFromProc(pid: string): ProcessRow[] {
  if (!/^\d+$/.test(pid)) return [];
  const stat = readProc(pid, "stat");
  if (stat === undefined) return [];
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[field.state];
  if (state === "Z" || state === "X") return [];
  return [
    {
      pid: Number(pid),
      parent: Number(fields[field.parent]),
      group: Number(fields[field.group]),
      session: Number(fields[field.session]),
      startedAt: fields[field.startTicks] ?? "",
      // Read only when it is asked for: it costs as much as all else, and most rows are only counted.
      get command() {
        return (readProc(pid, "cmdline") ?? "").replaceAll("\0", " ").trim();
      },
    },
  ];
}

function ps(options: readonly string[]): string[] {
  try {
    const environment = { ...process.env, LC_ALL: "C" };
    return execFileSync("ps", options, { encoding: "utf8", env: environment, maxBuffer: 64 << 20 })
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  } catch {
    // `ps -p` exits with 1 when there is no such process.
    return [];
  }
}

const psLine = /^(\d+) +(\d+) +(\d+) +(\S+) +(\S+ +\S+ +\d+ +[\d:]+ +\d+) +(.*)$/;

function rowsFromPs(selection: readonly string[] = ["-ax"]): ProcessRow[] {
  return ps([...selection, "-ww", "-o", "pid=,ppid=,pgid=,stat=,lstart=,command="]).flatMap((line) => {
    const [, pid, parent, group, state = "", startedAt = "", command = ""] = psLine.exec(line) ?? [];
    if (pid === undefined || state.startsWith("Z")) return [];
    // macOS doesn't give session numbers through ps; 0 everywhere reads as "one session".
    return [
      { pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, startedAt, command },
    ];
  });
}
