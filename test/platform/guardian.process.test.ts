import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRun } from "../../platform/index.js";
import { processRow } from "../../platform/process-table.js";
import { readJournal } from "../../platform/run-journal.js";
import { RunBench } from "./held-run.js";

let bench: RunBench;
beforeEach(() => {
  bench = new RunBench();
});
afterEach(() => bench.dispose());

const running = (pids: readonly number[]): number[] => pids.filter((pid) => processRow(pid) !== undefined);
const postgresFolders = (folder: string): string[] =>
  readJournal(folder).flatMap((entry) => (entry.made === "postgresData" ? [entry.path] : []));

/** These tests are about the server that a run starts itself, also where the suite runs on a given one. */
const ownPostgres = { env: { DATABASE_URL: "" } };

test("a main process killed with SIGKILL takes everything with it: children, their children, Postgres, folders", async () => {
  const held = await bench.start(bench.command({ children: 2, database: true, stray: true }), ownPostgres);
  expect(running(held.ready.processes)).toEqual(held.ready.processes);
  const data = postgresFolders(held.ready.folder);
  expect(data.some((folder) => existsSync(join(folder, "data", "postmaster.pid")))).toBe(true);

  process.kill(held.ready.pid, "SIGKILL");
  await bench.expectGone(held);

  expect(running(held.ready.processes)).toEqual([]);
  expect(data.filter((folder) => existsSync(folder))).toEqual([]);
});

/** Identifiers of the System V shared memory segments of this machine. */
const segments = (): string[] =>
  readFileSync("/proc/sysvipc/shm", "utf8")
    .split("\n")
    .flatMap((line) => line.trim().split(/ +/)[1] ?? []);

test.runIf(process.platform === "linux")("a killed Postgres leaves no shared memory behind", async () => {
  const held = await bench.start(bench.command({ database: true }), ownPostgres);
  const data = postgresFolders(held.ready.folder).at(-1) ?? "";
  const segmentLine = readFileSync(join(data, "data", "postmaster.pid"), "utf8").split("\n")[6] ?? "";
  const segment = segmentLine.trim().split(/ +/)[1];
  expect(segments()).toContain(segment);
  process.kill(held.ready.pid, "SIGKILL");
  await bench.expectGone(held);
  expect(segments()).not.toContain(segment);
});

test("killing npm alone ends the same way", async () => {
  const [node, ...args] = bench.command({ children: 1, database: true });
  const script = [node, ...args].map((part) => `'${part}'`).join(" ");
  // With two commands the shell stays between npm and Node, as in this package's own scripts.
  writeFileSync(
    join(bench.folder, "package.json"),
    JSON.stringify({ scripts: { hold: `true && ${script}` } }),
  );
  const held = await bench.start(["npm", "run", "-s", "hold"], { cwd: bench.folder });
  expect(held.launcher.pid).not.toBe(held.ready.pid);

  held.launcher.kill("SIGKILL");
  await held.exited;
  await bench.expectGone(held);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s closes the run in order and exits with %i", async (signal, exitCode) => {
  const held = await bench.start(bench.command({ children: 1, database: true }));
  // To the whole group, as a terminal does it.
  process.kill(-held.ready.pid, signal);
  expect(await held.exited).toEqual({ code: exitCode, signal: null });
  await bench.expectGone(held);
});

test("a run that closes by itself leaves nothing, and its main process ends without being told", async () => {
  const held = await bench.start(bench.command({ children: 1, database: true, close: true }));
  expect(await held.exited).toEqual({ code: 0, signal: null });
  expect(existsSync(held.ready.folder)).toBe(false);
  await bench.expectGone(held);
});

test("a killed guardian is replaced", async () => {
  const held = await bench.start(bench.command({ children: 1 }));
  process.kill(held.ready.guardian, "SIGKILL");
  const isGuardian = (command: string): boolean => command.includes(`guardian/main.js ${held.ready.folder}`);
  await expect
    .poll(() => bench.processes().some((row) => isGuardian(row.command) && row.pid !== held.ready.guardian))
    .toBe(true);
  process.kill(held.ready.pid, "SIGKILL");
  await bench.expectGone(held);
});

/** Leaves a dead run whose guardian could do nothing: what a power failure or an impatient person leaves. */
async function leaveDeadRun(): Promise<Awaited<ReturnType<RunBench["start"]>>> {
  const held = await bench.start(bench.command({ children: 1, database: true, stray: true }));
  // Stopped, the main process can't start another guardian.
  process.kill(held.ready.pid, "SIGSTOP");
  process.kill(held.ready.guardian, "SIGKILL");
  await expect.poll(() => processRow(held.ready.guardian)).toBeUndefined();
  process.kill(held.ready.pid, "SIGKILL");
  await held.exited;
  expect(running(held.ready.processes)).toEqual(held.ready.processes);
  return held;
}

test("the next run sweeps what a dead run left", async () => {
  const dead = await leaveDeadRun();
  const data = postgresFolders(dead.ready.folder);
  const notices: string[] = [];
  const notice = (line: string): void => void notices.push(line);
  const run = await openRun({ name: "next", runsFolder: bench.runsFolder, handleSignals: false, notice });
  expect(running(dead.ready.processes)).toEqual([]);
  expect(existsSync(dead.ready.folder)).toBe(false);
  expect(data.filter((folder) => existsSync(folder))).toEqual([]);
  expect(notices).toEqual([]);
  await run.close();
  expect(readdirSync(bench.runsFolder)).toEqual([]);
});

test("runs at the same time leave each other alone, also when one of them is killed", async () => {
  const [first, second] = await Promise.all([
    bench.start(bench.command({ children: 1, database: true })),
    bench.start(bench.command({ children: 1, database: true })),
  ]);
  process.kill(first.ready.pid, "SIGKILL");
  await expect.poll(() => existsSync(first.ready.folder), { timeout: 10_000 }).toBe(false);
  expect(running(first.ready.processes)).toEqual([]);

  const third = await openRun({ name: "third", runsFolder: bench.runsFolder, handleSignals: false });
  await third.close();
  expect(running(second.ready.processes)).toEqual(second.ready.processes);
  expect(existsSync(second.ready.folder)).toBe(true);

  process.kill(second.ready.pid, "SIGTERM");
  await bench.expectGone(second);
});

test("a run inside a run is ended with the outer one, and its own guardian removes its folder", async () => {
  const outer = await openRun({ name: "outer", runsFolder: bench.runsFolder, handleSignals: false });
  const [, entry = "", settings = ""] = bench.command({ children: 1, database: true });
  const inner = await outer.spawn({ name: "inner", command: [process.execPath, entry, settings] });
  const { folder, processes } = inner.ready as unknown as { folder: string; processes: number[] };
  await inner.kill("SIGKILL");
  await expect.poll(() => running(processes)).toEqual([]);
  await expect.poll(() => existsSync(folder), { timeout: 10_000 }).toBe(false);
  await outer.close();
  expect(readdirSync(bench.runsFolder)).toEqual([]);
});

test("a place where no run folder can be made is named", async () => {
  writeFileSync(bench.runsFolder, "");
  await expect(
    openRun({ name: "nowhere", runsFolder: bench.runsFolder, handleSignals: false }),
  ).rejects.toThrow(`no folder for this run can be made in ${bench.runsFolder}: `);
});
