import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRun, UserFacingError, type Run } from "../../platform/index.js";
import { processRow } from "../../platform/process-table.js";

const entry = "test/platform/programs/child.js";
let runsFolder: string;
let run: Run;

beforeEach(async () => {
  runsFolder = mkdtempSync(join(tmpdir(), "killproof-runs-"));
  run = await openRun({ name: "processes", runsFolder, handleSignals: false });
});
afterEach(async () => {
  await run.close();
  rmSync(runsFolder, { recursive: true });
});

test("gives what the ready line says, and keeps the log", async () => {
  const child = await run.spawn({ name: "child", entry });
  expect(child.ready).toMatchObject({ event: "ready", grandchild: expect.any(Number) });
  await child.stop();
  expect(readFileSync(child.logFile, "utf8")).toMatch(/^not the ready line\n\{"event":"ready"/);
});

test("SIGKILL ends the child and what it started in a session of its own", async () => {
  const child = await run.spawn({ name: "child", entry });
  expect(await child.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  expect(processRow(child.pid)).toBeUndefined();
  await expect.poll(() => processRow(Number(child.ready["grandchild"]))).toBeUndefined();
});

test("a second kill of an ended child gives the same exit and touches nobody", async () => {
  const child = await run.spawn({ name: "child", entry });
  const exit = await child.kill("SIGTERM");
  expect(await child.kill("SIGKILL")).toBe(exit);
  expect(await child.stop()).toBe(exit);
});

test("stop kills a child that doesn't drain in time", async () => {
  const env = { CHILD_IGNORES_SIGTERM: "1" };
  const child = await run.spawn({ name: "stubborn", entry, env, stopTimeoutMs: 200 });
  expect(await child.stop()).toEqual({ code: null, signal: "SIGKILL" });
});

test("a child that ends before it is ready is an error that quotes its log", async () => {
  const starting = run.spawn({ name: "failing", entry, env: { CHILD_FAILS: "1" } });
  await expect(starting).rejects.toThrow(UserFacingError);
  await expect(starting).rejects.toThrow(
    /failing ended \(exit code 3\) before it was ready[^]*first line\n +the reason why it fails/,
  );
});

test("a child that doesn't become ready in time is ended, and the error says the time", async () => {
  const starting = run.spawn({ name: "silent", command: ["sleep", "600"], readyTimeoutMs: 200 });
  await expect(starting).rejects.toThrow("silent was not ready within 200 ms. It printed nothing.");
});

test("a program that isn't there is named", async () => {
  const starting = run.spawn({ name: "missing", command: ["/no/such/program"] });
  await expect(starting).rejects.toThrow(/missing could not be started: .*ENOENT/);
});

test("closing stops children in reverse order, goes on past a failure, and reports it", async () => {
  const order: string[] = [];
  await run.spawn({ name: "child", entry });
  run.onClose("first", async () => void order.push("first"));
  run.onClose("failing", async () => {
    throw new Error("can't be stopped");
  });
  run.onClose("last", async () => void order.push("last"));
  await expect(run.close()).rejects.toMatchObject({ errors: [{ message: "failing: can't be stopped" }] });
  expect(order).toEqual(["last", "first"]);
  expect(processRow(process.pid)).toBeDefined();
  await expect(run.spawn({ name: "late", entry })).rejects.toThrow(/is closing; late can't be added/);
  run = await openRun({ name: "processes", runsFolder, handleSignals: false });
});

test("closing while a child is being started stops that child too", async () => {
  const starting = run.spawn({ name: "child", entry });
  const closing = run.close();
  const child = await starting;
  await closing;
  expect(processRow(child.pid)).toBeUndefined();
  run = await openRun({ name: "processes", runsFolder, handleSignals: false });
});
