/**
 * Ways out of a process that are no TCP connection: files that it can write, named Unix sockets, UDP. No tap sits
 * on them, so an effect that leaves through one has no window, and a green lab would mean nothing for it.
 *
 * It is a look at one moment. A file that was opened and closed between two looks isn't seen, so the counts
 * against the other sides' own logs stand beside it.
 */
import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";

export interface SideDoor {
  readonly kind: "file" | "unix" | "udp";
  /** Path, or `address:port` of whom it sends to. */
  readonly name: string;
}

export interface SideDoorOptions {
  /** Beginnings of paths that may be written, such as the folder of logs. Default: none. */
  readonly allowed?: readonly string[];
}

/**
 * The side doors of a process that are open now.
 *
 * @throws Error when the process has ended or may not be looked at: not knowing isn't the same as there being none.
 */
export async function sideDoorsOf(pid: number, { allowed = [] }: SideDoorOptions = {}): Promise<SideDoor[]> {
  const doors = process.platform === "linux" ? await doorsByProc(pid) : await doorsByLsof(pid);
  return doors.filter(({ name }) => !allowed.some((start) => name.startsWith(start)));
}

async function doorsByProc(pid: number): Promise<SideDoor[]> {
  const inodes = new Set<string>();
  const files: SideDoor[] = [];
  for (const descriptor of await readdir(`/proc/${pid}/fd`)) {
    // It may have been closed since.
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => "");
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode !== undefined) inodes.add(inode);
    else if (isFile(target) && (await isWritable(pid, descriptor)))
      files.push({ kind: "file", name: target });
  }
  const [unix, udp, udp6] = await Promise.all(
    ["unix", "udp", "udp6"].map((table) => readFile(`/proc/${pid}/net/${table}`, "utf8").catch(() => "")),
  );
  return [...files, ...unixDoors(unix!, inodes), ...udpDoors(udp!, inodes), ...udpDoors(udp6!, inodes)];
}

const isFile = (target: string): boolean =>
  target.startsWith("/") && !/^\/(dev|proc|sys|memfd:)/.test(target);

/** The lowest bits of the flags a file was opened with; 0 is for reading only. */
const accessModeMask = 0o3;

async function isWritable(pid: number, descriptor: string): Promise<boolean> {
  const info = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, "utf8").catch(() => "");
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & accessModeMask) !== 0;
}

/** Reads `/proc/net/unix`. Sockets without a name are the pipes between a process and its parent. */
export function unixDoors(text: string, inodes: ReadonlySet<string>): SideDoor[] {
  return text.split("\n").flatMap((line): SideDoor[] => {
    const [, , , , , , inode, path] = line.trim().split(/\s+/);
    return inode !== undefined && path !== undefined && inodes.has(inode)
      ? [{ kind: "unix", name: path }]
      : [];
  });
}

/** Reads `/proc/net/udp` or `udp6`: sockets that have somebody to send to. */
export function udpDoors(text: string, inodes: ReadonlySet<string>): SideDoor[] {
  return text.split("\n").flatMap((line): SideDoor[] => {
    const [, , remote = "", , , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = "", port = "0"] = remote.split(":");
    const number = Number.parseInt(port, 16);
    return inodes.has(inode) && number !== 0
      ? [{ kind: "udp", name: `${addressOf(address)}:${number}` }]
      : [];
  });
}

/** Version 4 in the usual form, from four bytes with the lowest first; version 6 stays in hexadecimal. */
function addressOf(hex: string): string {
  return hex.length === 8 ? [...Buffer.from(hex, "hex")].reverse().join(".") : hex.toLowerCase();
}

async function doorsByLsof(pid: number): Promise<SideDoor[]> {
  try {
    const { stdout } = await promisify(execFile)("lsof", ["-nP", "-p", String(pid), "-F", "fatPn"]);
    return parseLsofDoors(stdout);
  } catch (error) {
    throw new Error(`the open files of process ${pid} can't be read; this system needs lsof for it`, {
      cause: error,
    });
  }
}

/** Reads the output of `lsof -F fatPn`, which has one field a line. */
export function parseLsofDoors(text: string): SideDoor[] {
  const entries: Record<string, string>[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("f")) entries.push({});
    const entry = entries.at(-1);
    if (entry !== undefined && line !== "") entry[line[0]!] = line.slice(1);
  }
  return entries.flatMap(({ a: access, t: type, P: protocol, n: name = "" }): SideDoor[] => {
    if (type === "unix" && name.startsWith("/")) return [{ kind: "unix", name }];
    if (type === "REG" && (access === "w" || access === "u")) return [{ kind: "file", name }];
    const sendsTo = name.split("->")[1];
    return protocol === "UDP" && sendsTo !== undefined ? [{ kind: "udp", name: sendsTo }] : [];
  });
}
