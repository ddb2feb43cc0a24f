import { expect, test } from "vitest";
import { goldenRuns, type GoldenLab } from "../../../crash-lab/run/golden.js";
import type { HeldRun, Target } from "../../../crash-lab/run/held-run.js";
import { PhaseTimes } from "../../../crash-lab/run/phases.js";
import { lanesFor, playCases, type JudgedCase } from "../../../crash-lab/run/play-cases.js";
import type { RoundLab } from "../../../crash-lab/run/round.js";
import { RoundSize } from "../../../crash-lab/run/round-size.js";
import type { Found } from "../../../crash-lab/run/ending.js";
import type { DeliveredTask } from "../../../crash-lab/taps/event.js";
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
  /** What the run's end waits for. */
  ends?: () => Promise<void>;
  reportDead?: RoundLab["reportDead"];
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
    ending: async () => {
      await options.ends?.();
      return { standing: { state: "closed" }, told: [] };
    },
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
    ...(options.reportDead ? { reportDead: options.reportDead } : {}),
  };
  return { lab, rounds, openRuns: () => open };
}

async function play(
  lab: RoundLab | readonly RoundLab[],
  targets: readonly Target[],
  expectations: Parameters<typeof playCases>[2]["expectations"] = [],
) {
  const shown: JudgedCase[] = [];
  const judged = await playCases("newToken" in lab ? [lab] : lab, targets, {
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

test("rounds of two lanes overlap, and give the verdicts of one", async () => {
  const labels = Array.from({ length: 12 }, (_, at) => `w${at}`);
  const targets = labels.map((label) => kill(label));
  const found = (run: HeldRun): Found =>
    run.target!.window === window("w5")
      ? { ...undisturbed, effects: [...undisturbed.effects, ...undisturbed.effects] }
      : undisturbed;
  const alone = await play(fakeLab({ passes: () => labels, found }).lab, targets);
  expect(alone[window("w5")]).toBe("duplicated");

  // Neither lane's runs end before the runs of both have been killed, so one after the other would never end.
  let killed = 0;
  let bothKilled!: () => void;
  const both = new Promise<void>((resolve) => (bothKilled = resolve));
  const lanes = [1, 2].map(() => {
    const lane = fakeLab({ passes: () => labels, found, ends: () => both });
    const replace = async (): Promise<void> => {
      killed += 1;
      if (killed === 2) bothKilled();
    };
    return { ...lane, lab: { ...lane.lab, replace } };
  });
  expect(
    await play(
      lanes.map(({ lab }) => lab),
      targets,
    ),
  ).toEqual(alone);
  expect(lanes.map(({ rounds }) => rounds)).toEqual([[6], [6]]);
});

test("a few cases are not worth a second lane", () => {
  expect(lanesFor(3, 2)).toBe(1);
  expect(lanesFor(11, 4)).toBe(1);
  expect(lanesFor(12, 4)).toBe(2);
  expect(lanesFor(40, 2)).toBe(2);
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

test("what died with the victim is reported, where the profile wants that", async () => {
  const reported: DeliveredTask[] = [];
  const { lab } = fakeLab({
    passes: () => ["a"],
    reportDead: async (tasks) => void reported.push(...tasks),
  });
  const start = lab.start.bind(lab);
  lab.start = async (run) => {
    run.decide(
      eventOf({
        label: "PollActivityTaskQueue",
        side: "after",
        noWindow: "query",
        details: {
          kind: "temporal",
          connection: { generation: 1, clientPort: 1 },
          call: "PollActivityTaskQueue",
          workflowId: "invoice",
          workflowType: "processInvoice",
          commands: [],
          task: null,
          delivered: [task],
        },
      }),
      "worker#1",
    );
    return start(run);
  };
  const task: DeliveredTask = {
    kind: "activity-task",
    taskToken: "dG9rZW4=",
    workflowId: "invoice",
    runId: "r",
    workflowType: "processInvoice",
    activityType: "postInvoice",
    activityId: "3",
    attempt: 1,
    identity: "worker@41",
    eager: false,
  };
  expect(await play(lab, [kill("a")])).toEqual({ [window("a")]: "once" });
  expect(reported).toEqual([task]);
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
  expect(await play(lab, [kill("a")], [{ ...declared, window: /\/a\/1\/after$/ }])).toEqual({
    [window("a")]: "parked",
  });
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
  await expect(fails({ ending: { state: "parked", recoveryRow: "7" } })).rejects.toThrow("it parked");
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

test("what another process was given isn't lost with the one that was killed", async () => {
  const task = {
    kind: "activity-task" as const,
    taskToken: "t",
    workflowId: "w",
    runId: "r",
    workflowType: "order",
    activityType: "pay",
    activityId: "3",
    attempt: 1,
    identity: "worker@41",
    eager: false,
  };
  const started = {
    workflowId: "w",
    runId: "r",
    eventId: 9,
    at: "2026-01-01T00:00:00.000Z",
    type: "ACTIVITY_TASK_STARTED",
    activityId: "3",
    attempt: 1,
    identity: "worker@41",
  };
  const { lab } = fakeLab({ passes: () => [], found: () => ({ ...undisturbed, history: [started] }) });
  const start: typeof lab.start = async (run) => {
    const delivery = eventOf({ label: "Poll", side: "after" });
    const connection = { generation: 1, clientPort: 1 };
    const details = { kind: "temporal" as const, connection, call: "PollActivityTaskQueue", task: null };
    const of = { workflowId: "w", workflowType: "order", commands: [], delivered: [task] };
    run.decide({ ...delivery, details: { ...details, ...of } }, "worker#1");
    run.decide(eventOf({ label: "a", side: "after", process: "api" }), "api#1");
    return [];
  };
  const target: Target = { window: "automatic/api/accounting/a/1/after", verb: "kill" };
  expect(await play({ ...lab, start }, [target])).toEqual({ [target.window]: "once" });
});
