import dgram from "node:dgram";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { parseLsofDoors, sideDoorsOf, udpDoors, unixDoors } from "../../../crash-lab/peers/side-doors.js";

const closers: (() => void)[] = [];
afterEach(() =>
  closers
    .splice(0)
    .reverse()
    .forEach((close) => close()),
);

describe("side doors of a process", () => {
  it("are files that it can write, named Unix sockets and UDP, but no file that it only reads", async () => {
    const folder = mkdtempSync(join(tmpdir(), "doors-"));
    closers.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "side-door.db");
    for (const mode of ["w", "r"]) {
      const file = openSync(mode === "w" ? path : import.meta.filename, mode);
      closers.push(() => closeSync(file));
    }
    const server = net.createServer().listen(join(folder, "x.sock"));
    await once(server, "listening");
    closers.push(() => server.close());
    const udp = dgram.createSocket("udp4");
    udp.connect(9, "127.0.0.1");
    await once(udp, "connect");
    closers.push(() => udp.close());

    const doors = await sideDoorsOf(process.pid);
    expect(doors).toContainEqual({ kind: "file", name: path });
    expect(doors).toContainEqual({ kind: "unix", name: join(folder, "x.sock") });
    expect(doors).toContainEqual({ kind: "udp", name: "127.0.0.1:9" });
    expect(doors.map(({ name }) => name)).not.toContain(import.meta.filename);
    const fewer = await sideDoorsOf(process.pid, { allowed: [folder] });
    expect(fewer.filter(({ name }) => name.startsWith(folder))).toEqual([]);
  });

  it("can't be known of a process that isn't there", async () => {
    await expect(sideDoorsOf(0x3fffffff)).rejects.toThrow();
  });
});

describe("tables of the operating system", () => {
  it("of Linux, Unix sockets: the process's own that have a name", () => {
    const text =
      "Num       RefCount Protocol Flags    Type St Inode Path\n" +
      "0000000000000000: 00000002 00000000 00010000 0001 01 21 /run/x.sock\n" +
      "0000000000000000: 00000003 00000000 00000000 0001 03 22\n" +
      "0000000000000000: 00000003 00000000 00000000 0001 03 23 /run/other.sock\n";
    expect(unixDoors(text, new Set(["21", "22"]))).toEqual([{ kind: "unix", name: "/run/x.sock" }]);
  });

  it("of Linux, UDP: those with somebody to send to", () => {
    const line = (remote: string, inode: number) =>
      ` 100: 0100007F:1389 ${remote} 01 00000000:00000000 00:00000000 00000000 0 0 ${inode} 2 0 0\n`;
    const text = line("0200000A:0035", 31) + line("00000000:0000", 32) + line("0200000A:0035", 33);
    expect(udpDoors(text, new Set(["31", "32"]))).toEqual([{ kind: "udp", name: "10.0.0.2:53" }]);
  });

  it("of lsof", () => {
    const text = [
      ["p42", "f3", "au", "tIPv4", "PTCP", "n127.0.0.1:8080->127.0.0.1:1"],
      ["f4", "au", "tIPv4", "PUDP", "n*:5353"],
      ["f5", "au", "tIPv4", "PUDP", "n10.0.0.1:999->10.0.0.2:53"],
      ["f6", "aw", "tREG", "n/data/x.db"],
      ["f7", "ar", "tREG", "n/data/read.txt"],
      ["f8", "au", "tunix", "n/run/x.sock"],
      ["f9", "au", "tunix", "n->0x1234"],
    ];
    expect(parseLsofDoors(text.flat().join("\n"))).toEqual([
      { kind: "udp", name: "10.0.0.2:53" },
      { kind: "file", name: "/data/x.db" },
      { kind: "unix", name: "/run/x.sock" },
    ]);
  });
});
