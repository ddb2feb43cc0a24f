import { execFile } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { compiledEntry } from "../../../../platform/package-root.js";
import { fakeMachine, type FakeMachine } from "./fake-pip.js";

const run = promisify(execFile);
let machine: FakeMachine;
beforeEach(() => {
  machine = fakeMachine();
});
afterEach(() => rmSync(machine.folder, { recursive: true }));

test("several processes that download at once all get a whole program, and leave one", async () => {
  const script = `
    const { resolveTemporalServer } = await import(process.argv[1]);
    const [, , cacheFolder, requirementsFile] = process.argv;
    const { path, version } = await resolveTemporalServer("devServer", { cacheFolder, requirementsFile });
    console.log(JSON.stringify({ path, version }));`;
  const environment = { ...machine.environment, KILLPROOF_TEMPORAL_SOURCES: "cache,pip" };
  const index = compiledEntry("adapters/temporal/server/index.js");
  const results = await Promise.all(
    [1, 2, 3, 4].map(() =>
      run(
        process.execPath,
        ["--input-type=module", "-e", script, index, machine.cacheFolder, machine.requirementsFile],
        { env: environment },
      ),
    ),
  );
  const [name = ""] = readdirSync(machine.cacheFolder);
  for (const { stdout } of results) {
    const { path, version } = JSON.parse(stdout) as { path: string; version: string };
    expect(path).toBe(`${machine.cacheFolder}/${name}`);
    expect(["1.9.1", "9.9.9"]).toContain(version);
  }
  expect(readdirSync(machine.cacheFolder)).toEqual([name]);
});
