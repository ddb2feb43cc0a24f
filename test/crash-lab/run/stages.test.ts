import { expect, test } from "vitest";
import type { Target } from "../../../crash-lab/run/held-run.js";
import { stagesOf } from "../../../crash-lab/run/stages.js";

const kill = (window: string): Target => ({ window, verb: "kill" });
const at: Readonly<Record<string, number>> = { a: 0, b: 300, c: 550, d: 2_600, e: 2_700 };
const stages = (windows: string, gapMsMax: number) =>
  stagesOf([...windows].map(kill), (window) => at[window], gapMsMax).map((stage) =>
    stage.map(({ window }) => window).join(""),
  );

test("targets are parted where the story waits, the earliest first, each stage in the given order", () => {
  expect(stages("ecadb", 600)).toEqual(["cab", "ed"]);
});

test("a row of short waits is one stage, however long it is in all", () => {
  expect(stages("abc", 300)).toEqual(["abc"]);
  expect(stages("abc", 299)).toEqual(["a", "bc"]);
});

test("a window that the second undisturbed run didn't come by is tried with the first ones", () => {
  expect(stages("dxa", 600)).toEqual(["xa", "d"]);
});

test("nothing to try is no stage, and a repeated target stays repeated", () => {
  expect(stages("", 600)).toEqual([]);
  expect(stages("aab", 600)).toEqual(["aab"]);
});
