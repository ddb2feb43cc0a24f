import { expect, test } from "vitest";
import { goldenRuns, type GoldenLab } from "../../../crash-lab/run/golden.js";
import type { HeldRun, Target } from "../../../crash-lab/run/held-run.js";
import { PhaseTimes } from "../../../crash-lab/run/phases.js";
import { playCases, type JudgedCase } from "../../../crash-lab/run/play-cases.js";
import type { RoundLab } from "../../../crash-lab/run/round.js";
import { RoundSize } from "../../../crash-lab/run/round-size.js";
import type { Found } from "../../../crash-lab/run/ending.js";
import { eventOf } from "./fake-events.js";

const window = (label: string, side = "after") => `automatic/worker/accounting/${label}/1/${side}`;
const kill = (label: string): Target => ({ window: window(label), verb: "kill" });

const undisturbed: Found = {
  ending: { state: "closed" },
  effects: [{ system: "accounting", subject: "posting", contentDigest: "aa", sequence: 1 }],
  invariants: [],
  history: [],
  replay: { ok: true, detail: "" },
};

/** A lab without processes: each run comes by the labels it is given, and ends as told. */
function fakeLab(options: {
  passes: (run: HeldRun) => readonly string[];
  found?: (run: HeldRun) => Found;
  signal?: NodeJS.Signals | null;
}) {
  let tokens = 0;
  const rounds: number[] = [];
  let open = 0;
  const lab: GoldenLab = {
    holdMsMax: 1_000,
    newToken: () => `kp${(tokens += 1)}`,
    add: () => void (open += 1),
    retire: () => void (open -= 1),
    start: async (run) => {
      for (const label of options.passes(run)) {
        const exchange = tokens * 100;
        const before = run.decide(eventOf({ label, side: "before", exchange }), "worker#1");
        const after = run.decide(eventOf({ label, side: "after", exchange }), "worker#1");
        if (run.target && (before.do === "hold" || after.do === "hold")) return [];
      }
      return [];
    },
    closed: async () => undefined,
    ending: async () => ({ standing: { state: "closed" }, told: [] }),
    travelMsMax: 10_000,
    facts: async (run) => options.found?.(run) ?? undisturbed,
    phases: new PhaseTimes(),
    inspectPeers: async () => undefined,
    active: () => ({
      die: async (held) => {
        rounds.push(held.length);
        return held.map(() => ({
          pid: 41,
          signal: options.signal === undefined ? "SIGKILL" : options.signal,
          connectionsBroken: true,
        }));
      },
    }),
    replace: async () => undefined,
  };
  return { lab, rounds, openRuns: () => open };
}

async function play(
  lab: RoundLab,
  targets: readonly Target[],
  expectations: Parameters<typeof playCases>[2]["expectations"] = [],
) {
  const shown: JudgedCase[] = [];
  const judged = await playCases([lab], targets, {
    story: "automatic",
    golden: undisturbed,
    expectations,
    stable: (each) => !each.includes("unstable"),
    size: new RoundSize(1_000),
    onCase: (each) => shown.push(each),
    signal: new AbortController().signal,
  });
  expect(shown).toEqual(judged);
  return Object.fromEntries(judged.map(({ target, judgement }) => [target.window, judgement.verdict]));
}

test("many windows share one kill", async () => {
  const { lab, rounds, openRuns } = fakeLab({ passes: () => ["a", "b", "c"] });
  expect(await play(lab, [kill("a"), kill("b"), kill("c")])).toEqual({
    [window("a")]: "once",
    [window("b")]: "once",
    [window("c")]: "once",
  });
  expect(rounds).toEqual([3]);
  expect(openRuns()).toBe(0);
});

test("a window that no run comes to is unreached, and the others are judged all the same", async () => {
  const { lab } = fakeLab({ passes: () => ["a", "b"] });
  expect(await play(lab, [kill("gone"), kill("a"), kill("b")])).toEqual({
    [window("gone")]: "unreached",
    [window("a")]: "once",
    [window("b")]: "once",
  });
});

test("a window that only one undisturbed run came by is no case when no run comes by again", async () => {
  const { lab } = fakeLab({ passes: () => ["a"] });
  expect(await play(lab, [kill("unstable"), kill("a")])).toEqual({ [window("a")]: "once" });
});

test("what the lab can't find out about a case is its own fault, and the others are judged", async () => {
  const { lab } = fakeLab({
    passes: () => ["a", "b"],
    found: (run) => {
      if (run.target!.window === window("a")) throw new Error("the journal is gone");
      return undisturbed;
    },
  });
  expect(await play(lab, [kill("a"), kill("b")])).toEqual({
    [window("a")]: "harness",
    [window("b")]: "once",
  });
});

test("a round in which nothing arrives is tried again one by one", async () => {
  const { lab } = fakeLab({ passes: () => [] });
  expect(await play(lab, [kill("a"), kill("b")])).toEqual({
    [window("a")]: "unreached",
    [window("b")]: "unreached",
  });
});

test("a window missed once is reached in a later round", async () => {
  const missedOnce = new Set([window("b")]);
  const { lab, rounds } = fakeLab({
    passes: (run) => (missedOnce.delete(run.target!.window) ? ["a"] : ["a", "b"]),
  });
  expect(await play(lab, [kill("a"), kill("b")])).toEqual({ [window("a")]: "once", [window("b")]: "once" });
  expect(rounds).toEqual([1, 1]);
});

test("a kill that was none is vacuous", async () => {
  const { lab } = fakeLab({ passes: () => ["a"], signal: null });
  expect(await play(lab, [kill("a")])).toEqual({ [window("a")]: "vacuous" });
});

test("an answer is dropped without a kill", async () => {
  const { lab, rounds } = fakeLab({ passes: () => ["a"] });
  expect(await play(lab, [{ window: window("a"), verb: "drop-answer" }])).toEqual({ [window("a")]: "once" });
  expect(rounds).toEqual([]);
});

test("parking counts as right only where it is declared, and there it is demanded", async () => {
  const parked: Found = { ...undisturbed, effects: [], ending: { state: "parked", recoveryRow: "7" } };
  const { lab } = fakeLab({ passes: () => ["a"], found: () => parked });
  const declared = {
    window: window("a"),
    verb: "kill",
    verdict: "parked",
    because: "it can't be asked",
  } as const;
  expect(await play(lab, [kill("a")])).toEqual({ [window("a")]: "unexpected" });
  expect(await play(lab, [kill("a")], [declared])).toEqual({ [window("a")]: "parked" });
  const ended = fakeLab({ passes: () => ["a"] });
  expect(await play(ended.lab, [kill("a")], [declared])).toEqual({ [window("a")]: "unexpected" });
});

test("a round shrinks when its runs don't arrive or it holds too long, and grows when there is room", () => {
  const size = new RoundSize(1_000, 8, 26);
  size.learn({ holdMs: 100, notReached: 0 });
  expect(size.current).toBe(12);
  size.learn({ holdMs: 100, notReached: 0 });
  size.learn({ holdMs: 100, notReached: 0 });
  expect(size.current).toBe(26);
  size.learn({ holdMs: 100, notReached: 3 });
  expect(size.current).toBe(13);
  size.learn({ holdMs: 1_500, notReached: 0 });
  expect(size.current).toBe(6);
  for (let round = 0; round < 9; round += 1) size.learn({ holdMs: 5_000, notReached: 0 });
  expect(size.current).toBe(1);
});

test("golden runs: windows of both, or one clear reason why there can be none", async () => {
  let runs = 0;
  const { lab } = fakeLab({ passes: () => ((runs += 1) === 1 ? ["a", "b"] : ["a"]) });
  const golden = await goldenRuns(lab, "automatic");
  expect(golden.manifest.filter(({ stable }) => stable)).toHaveLength(2);
  expect(golden.manifest.filter(({ stable }) => !stable)).toHaveLength(2);

  const fails = (change: Partial<Found>, passes = ["a"]) =>
    goldenRuns(
      fakeLab({ passes: () => passes, found: () => ({ ...undisturbed, ...change }) }).lab,
      "automatic",
    );
  await expect(fails({ ending: { state: "open", pending: ["postInvoice"] } })).rejects.toThrow(
    "still pending: postInvoice",
  );
  await expect(fails({ ending: { state: "absent" } })).rejects.toThrow("nothing was started");
  await expect(fails({ invariants: [{ name: "sum", holds: false, detail: "off" }] })).rejects.toThrow(
    "invariant sum: off",
  );
  await expect(fails({ replay: { ok: false, detail: "changed" } })).rejects.toThrow("replay: changed");
  await expect(fails({}, [])).rejects.toThrow("crosses no tap");
  let seen = 0;
  const drifting = fakeLab({
    passes: () => ["a"],
    found: () => ({ ...undisturbed, effects: (seen += 1) === 1 ? undisturbed.effects : [] }),
  });
  await expect(goldenRuns(drifting.lab, "automatic")).rejects.toThrow(
    "ends differently each time: accounting posting",
  );
});
