/** One statement more in an activity: the manifest names it, and accepting it passes. By the real command. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compiledEntry } from "../../platform/package-root.js";
import { windows } from "./labs/shared-environment.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "killproof-drift-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function crash(
  extraUpdate: "yes" | "no",
  ...options: string[]
): Promise<{ code: number | null; out: string }> {
  const lab = compiledEntry("test/crash-lab/labs/extra-update.lab.js");
  const child = spawn(
    process.execPath,
    [compiledEntry("cli/main.js"), "crash", lab, "--window", windows.beforePosting, ...options],
    {
      env: {
        ...process.env,
        KILLPROOF_TEST_MANIFEST_FOLDER: folder,
        KILLPROOF_TEST_EXTRA_UPDATE: extraUpdate,
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [out, code] = await Promise.all([
    text(child.stdout),
    new Promise<number | null>((resolve) => child.once("exit", resolve)),
  ]);
  return { code, out };
}

test("the windows that came with the statement are named, until they are accepted", async () => {
  const before = await crash("no", "--accept");
  expect(before.code).toBe(0);

  const drifted = await crash("yes");
  const named = drifted.out.split("\n").filter((line) => line.startsWith("not in the manifest: "));
  expect(named).toEqual([
    expect.stringMatching(/: automatic\/worker\/ledger\/update operations \w{16}\/1\/after$/),
    expect.stringMatching(/: automatic\/worker\/ledger\/update operations \w{16}\/1\/before$/),
  ]);
  expect(drifted.out).not.toContain("in the manifest and not seen");
  expect(drifted.out).toContain("1 once");
  expect(drifted.code).toBe(1);

  const accepted = await crash("yes", "--accept");
  expect(accepted.code).toBe(0);
  const manifest = await readFile(join(folder, "manifest.json"), "utf8");
  for (const line of named) expect(manifest).toContain(encodeURIComponent(line.split("/")[3]!));
});
