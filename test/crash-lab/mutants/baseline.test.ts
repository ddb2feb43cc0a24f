import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseBaseline } from "../../../crash-lab/mutants/baseline.js";
import { mutantLab, tryMutants } from "../../../crash-lab/mutants/gate.js";
import { targetsOf } from "../../../crash-lab/run/plan.js";
import { compiledEntry } from "../../../platform/package-root.js";
import { invoiceApprovalLab } from "../../../scenarios/invoice-approval/lab.js";
import { invoiceMutants } from "../../../scenarios/invoice-approval/mutants/index.js";

const window = "automatic/worker/accounting/POST%20%2Fpostings/1/after";
const entry = { name: "no-key", why: "One. Two.", predicted: [{ window, verdict: "duplicated" }] };
const parse = (value: unknown) => parseBaseline(JSON.stringify(value), "baseline.json");

test("the verb of a prediction is kill unless it says otherwise", () => {
  expect(parse([entry])).toEqual([
    { ...entry, predicted: [{ window, verb: "kill", verdict: "duplicated" }] },
  ]);
});

test.each([
  ["twice the same name", [entry, entry], 'baseline.json: 1.name: "no-key" stands twice'],
  [
    "a verdict that may stand",
    [{ ...entry, predicted: [{ window, verdict: "once" }] }],
    "baseline.json: 0.predicted.0.verdict: a mutant is caught by a bad verdict",
  ],
  [
    "the lab's own fault",
    [{ ...entry, predicted: [{ window, verdict: "harness" }] }],
    "baseline.json: 0.predicted.0.verdict: a mutant is caught by a bad verdict",
  ],
  ["nothing predicted", [{ ...entry, predicted: [] }], "baseline.json: 0.predicted"],
  [
    "no window's name",
    [{ ...entry, predicted: [{ window: "posting", verdict: "lost" }] }],
    "baseline.json: 0.predicted.0.window",
  ],
  ["another field", [{ ...entry, caught: true }], "baseline.json: 0: Unrecognized key"],
])("%s is refused with its place", (_, value, message) => {
  expect(() => parse(value)).toThrow(message);
});

test("a mutant without a prediction isn't run, nor a prediction without a mutant left standing", async () => {
  const mutant = { name: "no-key", process: "worker", entry: "x.js" };
  const options = { version: "test", share: 0, handleSignals: false };
  await expect(tryMutants(invoiceApprovalLab, [mutant], [], options)).rejects.toThrow(
    'the mutant "no-key" has no prediction',
  );
  await expect(tryMutants(invoiceApprovalLab, [], parse([entry]), options)).rejects.toThrow(
    'the baseline predicts "no-key", and there is no such mutant',
  );
  expect(() => mutantLab(invoiceApprovalLab, { ...mutant, process: "printer" })).toThrow(
    'stands for a "printer"; invoice-approval has worker',
  );
});

test("the sample of the other windows is the same each time, grows with its share, and keeps those asked for", () => {
  const manifest = Array.from({ length: 400 }, (_, at) => ({
    window: `automatic/worker/ledger/insert%20t${at}/1/after`,
    stable: true,
  }));
  const chosen = (share: number): string[] =>
    targetsOf(invoiceApprovalLab, manifest, {
      verbs: ["kill"],
      windows: [manifest[7]!.window],
      sample: { share, seed: "no-key" },
    }).map(({ window: name }) => name);
  const tenth = chosen(0.1);
  expect(chosen(0)).toEqual([manifest[7]!.window]);
  expect(chosen(0.1)).toEqual(tenth);
  expect(tenth.length).toBeGreaterThan(20);
  expect(tenth.length).toBeLessThan(70);
  expect(chosen(0.5)).toEqual(expect.arrayContaining(tenth));
  expect(chosen(1)).toHaveLength(400);
});

test("each of the invoice's mutants has its program, its prediction and two sentences of why", async () => {
  const file = join(invoiceApprovalLab.folder, "mutants", "baseline.json");
  const baseline = parseBaseline(await readFile(file, "utf8"), file);
  expect(baseline.map(({ name }) => name)).toEqual(invoiceMutants.map(({ name }) => name));
  for (const { why } of baseline) expect(why.match(/[.](?= |$)/g)).toHaveLength(2);
  for (const { entry: program } of invoiceMutants) expect(compiledEntry(program)).toContain("mutants");
});
