/** Each protection of the invoice process, taken out: the lab must notice, where it was said that it would. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseBaseline } from "../../../crash-lab/mutants/baseline.js";
import { tryMutants } from "../../../crash-lab/mutants/gate.js";
import { invoiceApprovalLab } from "../../../scenarios/invoice-approval/lab.js";
import { invoiceMutants } from "../../../scenarios/invoice-approval/mutants/index.js";

/** A lab for each mutant, one after the other: a minute and a half on two idle cores, much more on busy ones. */
const allMutantsMsMax = 900_000;

test(
  "every mutant is caught at its predicted windows by its predicted verdicts",
  async () => {
    const file = join(invoiceApprovalLab.folder, "mutants", "baseline.json");
    const reports = await tryMutants(
      invoiceApprovalLab,
      invoiceMutants,
      parseBaseline(await readFile(file, "utf8"), file),
      { version: "test", share: 0, handleSignals: false },
    );
    expect(reports.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)).toEqual([]);
    expect(reports).toHaveLength(invoiceMutants.length);
  },
  allMutantsMsMax,
);
