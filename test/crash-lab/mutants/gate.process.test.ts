/** The gate against itself: a mutant that takes nothing out, and a prediction that nobody can meet any more. */
import { expect, test } from "vitest";
import { tryMutants } from "../../../crash-lab/mutants/gate.js";
import { invoiceApprovalLab } from "../../../scenarios/invoice-approval/lab.js";
import { windows } from "../labs/shared-environment.js";

test("a mutant that the lab doesn't notice survives, and one whose window is gone is stale", async () => {
  const nothingTakenOut = { process: "worker", entry: "services/worker/main.js" };
  const why = "Nothing is taken out. Recovery has nothing to do.";
  const gone = windows.afterPosting.replace("postings", "payments");
  const seen: string[] = [];
  const reports = await tryMutants(
    invoiceApprovalLab,
    [
      { name: "harmless", ...nothingTakenOut },
      { name: "outdated", ...nothingTakenOut },
    ],
    [
      {
        name: "harmless",
        why,
        predicted: [{ window: windows.afterPosting, verb: "kill", verdict: "duplicated" }],
      },
      { name: "outdated", why, predicted: [{ window: gone, verb: "kill", verdict: "duplicated" }] },
    ],
    {
      version: "test",
      share: 0,
      handleSignals: false,
      progress: {
        begins: ({ name }) => void seen.push(`${name} begins`),
        ended: ({ name, ok }) => void seen.push(`${name} ended ${ok ? "well" : "badly"}`),
      },
    },
  );
  expect(reports).toEqual([
    {
      name: "harmless",
      predicted: [windows.afterPosting],
      caught: [],
      ok: false,
      detail: `${decodeURIComponent(windows.afterPosting)} (kill): once instead of duplicated`,
    },
    expect.objectContaining({ name: "outdated", ok: false, detail: expect.stringContaining(`"${gone}"`) }),
  ]);
  expect(seen).toEqual([
    "harmless begins",
    "harmless ended badly",
    "outdated begins",
    "outdated ended badly",
  ]);
});
