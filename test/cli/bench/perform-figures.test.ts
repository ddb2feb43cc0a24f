import { describe, expect, test } from "vitest";

import { describeFigures, figuresOf, percentile } from "../../../cli/bench/perform-figures.js";

const goals = { latencyRatio: 1.2, throughputRatio: 0.85, atOnce: 4 };
const measured = {
  latencies: { bare: [10, 9, 11], committed: [11, 11, 22], performed: [12, 11, 40] },
  rates: [
    { atOnce: 4, rates: { bare: [400, 380, 390], committed: [370.5], performed: [351, 340, 352] } },
    { atOnce: 16, rates: { bare: [1_400], committed: [1_050], performed: [700] } },
  ],
};

describe("the percentile", () => {
  test.each([
    [[3, 1, 2], 0.5, 2],
    [[4, 1, 3, 2], 0.5, 2],
    [[10, 9, 100], 0.95, 100],
    [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95],
    [[7], 0.5, 7],
    [[7, 8], 0, 7],
  ])("of %j at %d is %d", (values, part, expected) => {
    expect(percentile(values, part)).toBe(expected);
  });

  test("of nothing is an error", () => {
    expect(() => percentile([], 0.5)).toThrow("no values");
  });
});

describe("the comparison", () => {
  test("divides the performed by the bare, at the medians of each", () => {
    const { latency, throughput, meetsGoal } = figuresOf(measured, goals);
    expect(latency).toEqual({
      bare: { p50: 10, p95: 11 },
      committed: { p50: 11, p95: 22 },
      performed: { p50: 12, p95: 40 },
      ratio: { committed: { p50: 1.1, p95: 2 }, performed: { p50: 1.2, p95: 40 / 11 } },
    });
    expect(throughput).toEqual([
      {
        atOnce: 4,
        bare: 390,
        committed: 370.5,
        performed: 351,
        ratio: { committed: 0.95, performed: 0.9 },
      },
      {
        atOnce: 16,
        bare: 1_400,
        committed: 1_050,
        performed: 700,
        ratio: { committed: 0.75, performed: 0.5 },
      },
    ]);
    expect(meetsGoal).toBe(true);
  });

  test("misses the goal when the latency does, and when the judged throughput does", () => {
    const slow = { ...measured, latencies: { ...measured.latencies, performed: [12.1, 12.1, 12.1] } };
    expect(figuresOf(slow, goals).meetsGoal).toBe(false);
    expect(figuresOf(measured, { ...goals, atOnce: 16 }).meetsGoal).toBe(false);
  });

  test("is refused where the judged throughput was not measured", () => {
    expect(() => figuresOf(measured, { ...goals, atOnce: 8 })).toThrow("8 at once");
  });

  test("says which figure is judged", () => {
    const lines = describeFigures(figuresOf(measured, goals)).split("\n");
    expect(lines[0]).toContain("ratio 1.10; performed 12.0 ms, ratio 1.20 (goal ≤ 1.2)");
    expect(lines[2]).toContain("ratio 0.90 (goal ≥ 0.85)");
    expect(lines[3]).toContain("ratio 0.50 (not judged)");
    expect(lines.at(-1)).toContain("meets its goals");
  });
});
