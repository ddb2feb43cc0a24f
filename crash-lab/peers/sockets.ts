/**
 * Which sockets a process has, as the operating system says. Two questions of the lab can't be answered by the taps
 * themselves: which process really owns a connection (a wrapper that was started is not the one to kill), and
 * whether a process has connections that lead past the taps.
 */
import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";

/** One established TCP connection of a process. */
export interface ProcessSocket {
  readonly pid: number;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** Established TCP connections of the given processes. A process that ended meanwhile has none. */
export async function socketsOf(pids: readonly number[]): Promise<ProcessSocket[]> {
  return process.platform === "linux"
    ? linuxSockets(pids, linuxStates.established)
    : parseLsof(await lsof(pids, "ESTABLISHED"));
}

/**
 * The process that listens on a port.
 *
 * @param pids where to look: the process that was started and all its descendants
 * @returns `undefined` when none of them does
 */
export async function listenerOn(port: number, pids: readonly number[]): Promise<number | undefined> {
  const listening =
    process.platform === "linux"
      ? await linuxSockets(pids, linuxStates.listening)
      : parseLsof(await lsof(pids, "LISTEN"));
  return listening.find(({ localPort }) => localPort === port)?.pid;
}

/** State column of /proc/net/tcp (include/net/tcp_states.h of the Linux kernel). */
const linuxStates = { established: "01", listening: "0A" } as const;

async function linuxSockets(pids: readonly number[], wanted: string): Promise<ProcessSocket[]> {
  const sockets: ProcessSocket[] = [];
  for (const pid of pids) {
    const inodes = await socketInodes(pid);
    if (inodes.size === 0) continue;
    for (const table of ["tcp", "tcp6"]) {
      const text = await readFile(`/proc/${pid}/net/${table}`, "utf8").catch(nothingIfGone);
      for (const row of parseTcpTable(text))
        if (row.state === wanted && inodes.has(row.inode))
          sockets.push({
            pid,
            localPort: row.localPort,
            remoteAddress: row.remoteAddress,
            remotePort: row.remotePort,
          });
    }
  }
  return sockets;
}

async function socketInodes(pid: number): Promise<Set<string>> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

export interface TcpRow {
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly state: string;
  readonly inode: string;
}

/** Reads `/proc/net/tcp` or `/proc/net/tcp6`. */
export function parseTcpTable(text: string): TcpRow[] {
  return text
    .split("\n")
    .slice(1)
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const columns = line.trim().split(/\s+/);
      const [, local = "", remote = "", state = "", , , , , , inode = ""] = columns;
      const [remoteHex = "", remotePortHex = ""] = remote.split(":");
      return {
        localPort: Number.parseInt(local.split(":")[1] ?? "", 16),
        remoteAddress: addressFromHex(remoteHex),
        remotePort: Number.parseInt(remotePortHex, 16),
        state,
        inode,
      };
    });
}

/** The kernel prints each 32-bit word of an address in host order, which is little-endian where this runs. */
function addressFromHex(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) =>
    (word.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)),
  );
  if (bytes.length === 4) return bytes.join(".");
  const isMappedIpv4 =
    bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (isMappedIpv4) return bytes.slice(12).join(".");
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bytes[2 * at]! << 8) | bytes[2 * at + 1]!).toString(16),
  );
  return groups.join(":");
}

async function lsof(pids: readonly number[], state: "ESTABLISHED" | "LISTEN"): Promise<string> {
  if (pids.length === 0) return "";
  const list = ["-nP", "-a", "-p", pids.join(","), "-iTCP", `-sTCP:${state}`, "-Fpn"];
  const { stdout } = await promisify(execFile)("lsof", list).catch(
    (error: { stdout?: string; code?: unknown }) => {
      // lsof ends with 1 when it found nothing.
      if (error.code === 1) return { stdout: error.stdout ?? "" };
      throw error;
    },
  );
  return stdout;
}

/**
 * Reads the field output of `lsof -Fpn`: a `p` line names the process of the `n` lines after it. Who listens has no
 * other side.
 */
export function parseLsof(text: string): ProcessSocket[] {
  let pid = 0;
  const sockets: ProcessSocket[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    const match = /^n.*?:(\d+)(?:->\[?([^\]]*)\]?:(\d+))?$/.exec(line);
    if (match)
      sockets.push({
        pid,
        localPort: Number(match[1]),
        remoteAddress: match[2] ?? "",
        remotePort: Number(match[3] ?? 0),
      });
  }
  return sockets;
}

function nothingIfGone(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT" || error.code === "ESRCH" || error.code === "EACCES") return "";
  throw error;
}
