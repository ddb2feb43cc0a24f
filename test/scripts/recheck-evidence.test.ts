/** The judge and a script of twenty lines, which share nothing but the evidence, come to the same verdicts. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Effect } from "../../crash-lab/judge/evidence.js";
import { formatEvidence, type EvidenceLine } from "../../crash-lab/judge/evidence-line.js";
import { judge } from "../../crash-lab/judge/judge.js";
import { packageRoot } from "../../platform/package-root.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "killproof-recheck-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const digest = (letter: string): string => letter.repeat(64);
const effect = (subject: string, content: string): Effect => ({
  system: "accounting",
  subject,
  contentDigest: digest(content),
  sequence: 1,
});
const golden = [effect("post:1", "a"), effect("post:2", "b")];

const doctored: Record<string, readonly Effect[]> = {
  kp00000000once: golden,
  kp000000double: [...golden, effect("post:1", "a")],
  kp00000000gone: golden.slice(1),
  kp0000other000: [effect("post:1", "c"), golden[1]!],
  kp00stranger00: [...golden, effect("post:3", "a")],
  // More than one thing is wrong: what was doubled has another content, too.
  kp000000000two: [...golden, effect("post:1", "d")],
};

function verdictOf(effects: readonly Effect[]): string {
  return judge(
    {
      fault: { verb: "drop-answer", reached: true, fired: true },
      ending: { state: "closed" },
      effects,
      told: [],
      history: [],
      replay: { ok: true, detail: "" },
      invariants: [],
      missedExpectations: [],
    },
    { effects: golden },
  ).verdict;
}

function linesOf(run: string, effects: readonly Effect[]): EvidenceLine[] {
  return effects.map(({ system, subject, contentDigest }, seq) => ({
    run,
    system,
    seq,
    at: "2026-01-01T00:00:00.000Z",
    kind: "committed",
    key: `${subject}-${run}`,
    digest: contentDigest,
    status: null,
  }));
}

const own = (run: string, kind: string, key: string, status: string): EvidenceLine => ({
  run,
  system: "lab",
  seq: 0,
  at: "2026-01-01T00:00:00.000Z",
  kind,
  key,
  digest: "",
  status,
});

async function recheck(lines: readonly EvidenceLine[]): Promise<{ code: number | null; text: string }> {
  const file = join(folder, "evidence.ndjson");
  await writeFile(file, formatEvidence(lines));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(packageRoot(), "scripts", "recheck-evidence.mjs"), file],
    { encoding: "utf8" },
  );
  return { code: status, text: stdout + stderr };
}

const goldenLines = [
  own("kp000000golden", "golden", "automatic", "closed"),
  ...linesOf("kp000000golden", golden),
];

test("each verdict about effects is worked out again from the lines", async () => {
  const verdicts = Object.entries(doctored).map(([run, effects]) => [run, verdictOf(effects)] as const);
  expect(new Set(verdicts.map(([, verdict]) => verdict))).toEqual(
    new Set(["once", "duplicated", "lost", "diverged"]),
  );
  const { code, text } = await recheck([
    ...goldenLines,
    ...verdicts.flatMap(([run, verdict]) => [
      ...linesOf(run, doctored[run]!),
      own(run, "verdict", `automatic/worker/accounting/${run}/1/after`, verdict),
    ]),
  ]);
  expect(
    text
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("same ")),
  ).toHaveLength(verdicts.length);
  expect(code).toBe(0);
});

test("a line taken out makes it disagree", async () => {
  const { code, text } = await recheck([
    ...goldenLines,
    ...linesOf("kp00000000once", golden).slice(1),
    own("kp00000000once", "verdict", "automatic/worker/accounting/x/1/after", "once"),
  ]);
  expect(text).toContain("lost, not once");
  expect(code).toBe(1);
});
