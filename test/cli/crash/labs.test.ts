import { expect, test } from "vitest";
import { findLab, scenarioNames } from "../../../cli/crash/labs.js";

test.each(scenarioNames.flatMap((name) => [[name, false] as const, [name, true] as const]))(
  "the name that the reports of %s (naive: %s) print finds the same lab again",
  async (scenario, naive) => {
    const found = await findLab(scenario, naive);
    expect(await findLab(found.lab.name, false)).toEqual(found);
  },
);

test("an unknown name is refused with those that are allowed", async () => {
  await expect(findLab("invoice-aproval", false)).rejects.toThrow(
    "crash invoice-aproval: allowed are invoice-approval, or the path of a lab file",
  );
});
