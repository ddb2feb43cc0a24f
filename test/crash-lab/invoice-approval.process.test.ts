/** The crash lab on the automatic invoice: the production worker in every window, the unprotected one where it fails. */
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replayCase } from "../../cli/crash/replay.js";
import { writeEvidence, writeFailures } from "../../cli/crash/write-evidence.js";
import { successorOf } from "../../crash-lab/judge/lost-tasks.js";
import { exitCodeOfReport } from "../../crash-lab/report/exit-code.js";
import type { LabResult } from "../../crash-lab/run/run-crash-lab.js";
import { parseManifest } from "../../crash-lab/windows/manifest.js";
import { parseWindowName } from "../../crash-lab/windows/window-name.js";
import { packageRoot } from "../../platform/package-root.js";
import { invoiceApprovalLab, naiveInvoiceLab } from "../../scenarios/invoice-approval/lab.js";
import { openSharedEnvironment, windows, type SharedEnvironment } from "./labs/shared-environment.js";

let shared: SharedEnvironment;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "killproof-lab-"));
  shared = await openSharedEnvironment("invoices");
});
afterAll(async () => {
  await shared.close();
  await rm(folder, { recursive: true, force: true });
});

const verdictsOf = ({ report }: LabResult): Record<string, string> =>
  Object.fromEntries(
    report.scenarios[0]!.cases.map(({ window, verb, verdict }) => [`${verb} ${window}`, verdict]),
  );

/** What the script of twenty lines says, line by line. */
function recheck(evidenceFolder: string): {
  readonly code: number | null;
  readonly lines: readonly string[];
} {
  const script = join(packageRoot(), "scripts", "recheck-evidence.mjs");
  const file = join(evidenceFolder, "evidence.ndjson");
  const { status, stdout } = spawnSync(process.execPath, [script, file], { encoding: "utf8" });
  return { code: status, lines: stdout.trim().split("\n") };
}

describe("the production worker", () => {
  let result: LabResult;
  let evidenceFolder: string;
  beforeAll(async () => {
    const manifestFile = join(invoiceApprovalLab.folder, "manifest.json");
    result = await shared.play(invoiceApprovalLab, {
      verbs: ["kill", "drop-answer", "drop-request"],
      evidence: "all",
      manifest: parseManifest(await readFile(manifestFile, "utf8"), manifestFile),
    });
    evidenceFolder = join(folder, "safe");
    await writeEvidence(evidenceFolder, result);
  });

  test("has the windows of the committed manifest", () => {
    expect(result.drift).toMatchObject({ appeared: [], gone: [] });
  });

  test("does everything exactly once, whatever window it is killed in, whichever answer it loses and whatever never arrives", () => {
    const stable = result.manifest.filter((entry) => entry.stable).map(({ window }) => window);
    const onSide = (verb: string, side: string): string[] =>
      stable.filter((window) => parseWindowName(window).side === side).map((window) => `${verb} ${window}`);
    const listed = [
      ...stable.map((window) => `kill ${window}`),
      ...onSide("drop-answer", "after"),
      ...onSide("drop-request", "before"),
    ];
    const verdicts = verdictsOf(result);
    expect(verdicts).toEqual(Object.fromEntries(Object.keys(verdicts).map((each) => [each, "once"])));
    expect(Object.keys(verdicts)).toEqual(expect.arrayContaining(listed));
    expect(exitCodeOfReport(result.report)).toBe(0);
  });

  test("was really killed: pid, signal, identity by the tap's record, and a second attempt by another", () => {
    const kills = result.cases.filter(({ target }) => target.verb === "kill");
    let lost = 0;
    for (const { target, evidence } of kills) {
      const { victim } = evidence.fault;
      expect(victim, target.window).toMatchObject({ signal: "SIGKILL", connectionsBroken: true });
      expect(victim!.identity, target.window).toBe(`worker@${victim!.pid}`);
      for (const task of victim!.lostTasks) {
        lost += 1;
        expect(task.identity).toBe(victim!.identity);
        const successor = successorOf(task, evidence.history)!;
        expect(successor.attempt, target.window).toBeGreaterThanOrEqual(2);
        expect(successor.identity).not.toBe(task.identity);
      }
    }
    // At the least for each of the three activities: delivered, and about to be reported.
    expect(lost).toBeGreaterThanOrEqual(6);
  });

  test("left evidence of the committed form, from which a script comes to the same verdicts", async () => {
    const schemaFile = join(packageRoot(), "docs", "crash-evidence.schema.json");
    const validate = addFormats
      .default(new Ajv2020({ allowUnionTypes: true }))
      .compile(JSON.parse(await readFile(schemaFile, "utf8")) as object);
    const text = await readFile(join(evidenceFolder, "evidence.ndjson"), "utf8");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { system: string });
    for (const line of lines) expect(validate(line), JSON.stringify(validate.errors)).toBe(true);
    const systems = new Set(lines.map(({ system }) => system));
    for (const system of ["accounting", "ledger", "history", "lab", "tap:worker/temporal"])
      expect(systems).toContain(system);
    const { code, lines: rechecked } = recheck(evidenceFolder);
    expect(rechecked).toHaveLength(result.cases.length);
    expect(code).toBe(0);
  });
});

describe("the worker that posts as if nothing could go wrong", () => {
  const failing: readonly string[] = [windows.afterPosting, windows.beforePostingIsReported];
  /** A round of one takes seconds each, so alone only those that matter and one beside them are played. */
  const few: readonly string[] = [...failing, windows.beforePosting];
  let many: readonly string[];
  const predicted = (chosen: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      chosen.map((window) => [`kill ${window}`, failing.includes(window) ? "duplicated" : "once"] as const),
    );
  let together: LabResult;
  beforeAll(async () => {
    const manifestFile = join(naiveInvoiceLab.folder, "manifest.json");
    const others = parseManifest(await readFile(manifestFile, "utf8"), manifestFile)
      .map(({ window }) => window)
      // The unprotected worker keeps no books of its operations, so it shares the windows of Temporal only.
      .filter((window) => window.startsWith("automatic/worker/temporal/") && !few.includes(window));
    many = [...few, ...others].slice(0, 12);
    together = await shared.play(naiveInvoiceLab, { windows: many, lanesMax: 1, evidence: "all" });
  });

  test("doubles the posting after it was made and before that was reported, and only there", () => {
    expect(many).toHaveLength(12);
    expect(verdictsOf(together)).toEqual(predicted(many));
    expect(exitCodeOfReport(together.report)).toBe(1);
  });

  test("gets the same verdicts in rounds that overlap, and without waiting for time-outs", async () => {
    const overlapping = await shared.play(naiveInvoiceLab, { windows: many, lanesMax: 2 });
    expect(verdictsOf(overlapping)).toEqual(predicted(many));
    const reported = await shared.play(naiveInvoiceLab, { windows: many, lanesMax: 2, profile: "obituary" });
    expect(verdictsOf(reported)).toEqual(predicted(many));
    expect(reported.report.profile).toBe("obituary");
  });

  test("gets the same verdicts alone as in one round with others, and its own times to recover", async () => {
    const alone = await shared.play(naiveInvoiceLab, { windows: few, roundSizeMax: 1 });
    expect(verdictsOf(alone)).toEqual(predicted(few));
    for (const { recoverMs } of alone.report.scenarios[0]!.cases) expect(recoverMs).toBeGreaterThan(0);
    for (const { recoverMs } of together.report.scenarios[0]!.cases) expect(recoverMs).toBeNull();
  });

  test("is judged the same by the script", async () => {
    await writeEvidence(join(folder, "naive"), together);
    const { code, lines } = recheck(join(folder, "naive"));
    expect(lines.filter((line) => line.startsWith("same duplicated"))).toHaveLength(2);
    expect(code).toBe(0);
  });

  test("repeats its verdict from the schedule file of the failing case", async () => {
    const files = await writeFailures(join(folder, "failures"), together);
    expect(files).toHaveLength(2);
    let out = "";
    const code = await replayCase({
      file: files[0]!,
      version: "test",
      repeat: "3",
      handleSignals: false,
      stdout: { write: (text) => (out += text) },
      stderr: { write: () => true },
    });
    expect(out).toContain("duplicated 3 of 3 times");
    expect(code).toBe(0);
  });
});
