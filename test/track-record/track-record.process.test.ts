/** The cases as people play them: the command, real processes, the outside world's own journals. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compiledEntry } from "../../platform/package-root.js";
import { publicCases } from "../../scenarios/track-record/index.js";
import type { Played } from "../../scenarios/track-record/play.js";

/** Each variant waits for a late commit or a deadline, one after the other; the rest is for a busy machine. */
const caseMsMax = 400_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "killproof-track-record-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const command = (...words: string[]) =>
  promisify(execFile)(process.execPath, [compiledEntry("cli/main.js"), "track-record", ...words]);

test.each(publicCases.map((each) => [each.id, each] as const))(
  "%s: each variant comes out as it has to, for naive code and for ours",
  async (id, { variants }) => {
    const file = path.join(folder, `${id}.json`);
    const { stdout } = await command(id, "--json", file);
    const { played } = JSON.parse(await readFile(file, "utf8")) as { played: Played[] };
    expect(played.map(({ variant, side, outcome }) => [variant, side, outcome.verdict])).toEqual(
      variants.flatMap(({ id: variant, expected }) => [
        [variant, "naive", expected.naive],
        [variant, "right", expected.right],
      ]),
    );
    expect(stdout).toContain(`${variants.length * 2} as expected, 0 not`);
  },
  caseMsMax,
);

test("a case that isn't known is named with those that are, and nothing is started", async () => {
  await expect(command("O99")).rejects.toMatchObject({
    code: 2,
    stdout: "",
    stderr: 'case is "O99"; allowed: O5, O6\n',
  });
});
