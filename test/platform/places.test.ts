import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serverOf } from "../../platform/database-server.js";
import { freePort, messageOf, packageRoot, requireEmptyFolder, requirePort } from "../../platform/index.js";
import { compiledEntry } from "../../platform/package-root.js";
import { isDeadRun } from "../../platform/run-folders.js";
import { isSameProcess, processRow, processTable, thisMachine } from "../../platform/process-table.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "killproof-places-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a folder that a person named is made, used when empty, and refused when something is in it", () => {
  const path = join(folder, "deep", "out");
  expect(requireEmptyFolder(path, "the evidence")).toBe(path);
  expect(requireEmptyFolder(path, "the evidence")).toBe(path);
  writeFileSync(join(path, "theirs"), "");
  expect(() => requireEmptyFolder(path, "the evidence")).toThrow(
    `folder "${path}" for the evidence is not empty. Name another, or remove what is in it (1 entries).`,
  );
  expect(() => requireEmptyFolder(join(path, "theirs"), "the evidence")).toThrow(/can't be used: is a file/);
});

test("a named port is given when it is free and refused when it is taken; a free one is below the outgoing range", async () => {
  const port = await freePort();
  expect(port).toBeLessThan(32_768);
  expect(await requirePort(port, "the API")).toBe(port);
  const holder = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => holder.once("listening", resolve));
  await expect(requirePort(port, "the API")).rejects.toThrow(
    `port ${port} for the API is taken on 127.0.0.1`,
  );
  await new Promise((resolve) => holder.close(resolve));
});

test("the package is found from any folder in it, and only by its name", () => {
  expect(packageRoot(join(packageRoot(), "platform", "postgres"))).toBe(packageRoot());
  mkdirSync(join(folder, "other"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "other" }));
  expect(() => packageRoot(join(folder, "other"))).toThrow(
    `no package.json named killproof at or above ${folder}`,
  );
  expect(() => compiledEntry("no/such/entry.js")).toThrow('Run "npm run build" first');
});

test("this process is in the table, under its start and no other", () => {
  const row = processRow(process.pid);
  expect(processTable()).toContainEqual(row);
  expect(isSameProcess(process.pid, row?.startedAt ?? "")).toBe(true);
  expect(isSameProcess(process.pid, "another start")).toBe(false);
});

test("a run is dead when its process is, and never judged from another machine or container", () => {
  const machine = thisMachine();
  const startedAt = processRow(process.pid)?.startedAt ?? "";
  const alive = { id: "x", name: "x", pid: process.pid, startedAt, machine };
  expect(isDeadRun(alive)).toBe(false);
  expect(isDeadRun({ ...alive, startedAt: "another start" })).toBe(true);
  expect(isDeadRun({ ...alive, machine: { ...machine, boot: "an earlier one" } })).toBe(true);
  expect(isDeadRun({ ...alive, startedAt: "0", machine: { ...machine, hostname: "elsewhere" } })).toBe(false);
  expect(isDeadRun({ ...alive, startedAt: "0", machine: { ...machine, pidNamespace: "another" } })).toBe(
    false,
  );
});

test.each([
  ["postgres://u:p@db.example:6000/x", "db.example:6000"],
  ["postgres://db.example/x", "db.example:5432"],
  ["postgres:///x?host=/run/postgresql", "/run/postgresql:5432"],
])("the server of %s is %s", (url, server) => expect(serverOf(url)).toBe(server));

test("a message is found in whatever was thrown", () => {
  expect(messageOf(new AggregateError([new Error("a"), new Error("b")]))).toBe("a; b");
  expect(messageOf("text")).toBe("text");
});
