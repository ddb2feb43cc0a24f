import { expect, test } from "vitest";
import { LabController } from "../../../crash-lab/run/controller.js";
import { HeldRun } from "../../../crash-lab/run/held-run.js";
import { eventOf } from "./fake-events.js";

const window = (label: string, ordinal: number, side: string) =>
  `automatic/worker/accounting/${encodeURIComponent(label)}/${ordinal}/${side}`;
const post = { label: "POST /postings", runTokens: ["kp1"] };

test("both sides of one exchange are one ordinal, also when exchanges overlap", () => {
  const run = new HeldRun("kp1", "automatic", undefined);
  for (const [exchange, side] of [
    [1, "before"],
    [2, "before"],
    [2, "after"],
    [1, "after"],
  ] as const)
    run.decide(eventOf({ ...post, side, exchange }), "worker#1");
  expect(run.seen.map((seen) => seen.window)).toEqual([
    window("POST /postings", 1, "before"),
    window("POST /postings", 2, "before"),
    window("POST /postings", 2, "after"),
    window("POST /postings", 1, "after"),
  ]);
});

test("a message whose run shows only in the answer has a window after it", () => {
  const run = new HeldRun("kp1", "automatic", undefined);
  run.decide(eventOf({ ...post, side: "after", exchange: 7 }), "worker#1");
  expect(run.windows()).toEqual([window("POST /postings", 1, "after")]);
});

test("an exchange of the next process is another one, although it has the same number", () => {
  const run = new HeldRun("kp1", "automatic", undefined);
  run.decide(eventOf({ ...post, side: "before", exchange: 1 }), "worker#1");
  run.decide(eventOf({ ...post, side: "before", exchange: 1 }), "worker#2");
  run.decide(eventOf({ ...post, side: "after", exchange: 1 }), "worker#2");
  expect(run.seen.map((seen) => seen.window).at(-1)).toBe(window("POST /postings", 2, "after"));
});

test("what is no window is passed on and not counted", () => {
  const run = new HeldRun("kp1", "automatic", { window: window("heartbeat", 1, "before"), verb: "kill" });
  expect(
    run.decide(eventOf({ ...post, label: "heartbeat", side: "before", noWindow: "heartbeat" }), "w").do,
  ).toBe("forward");
  expect(run.windows()).toEqual([]);
});

test("a kill holds the message until the process is dead, then drops it, and recovery is left alone", async () => {
  const run = new HeldRun("kp1", "automatic", { window: window(post.label, 1, "after"), verb: "kill" });
  expect(run.decide(eventOf({ ...post, side: "before", exchange: 1 }), "w#1").do).toBe("forward");
  const held = run.decide(eventOf({ ...post, side: "after", exchange: 1 }), "w#1");
  expect(held.do).toBe("hold");
  expect((await run.arrived).window).toBe(window(post.label, 1, "after"));
  expect(run.fired).toBe(false);
  run.drop();
  expect(run.fired).toBe(true);
  expect(held.do === "hold" && (await held.until).do).toBe("drop");
  expect(run.decide(eventOf({ ...post, side: "after", exchange: 2 }), "w#2").do).toBe("forward");
});

test("while it is held, nothing of the run changes anything outside, and what waited dies with the process", async () => {
  const run = new HeldRun("kp1", "automatic", { window: window(post.label, 1, "after"), verb: "kill" });
  run.decide(eventOf({ ...post, side: "before", exchange: 1 }), "w#1");
  run.decide(eventOf({ ...post, side: "after", exchange: 1 }), "w#1");
  const next = run.decide(eventOf({ ...post, label: "POST /other", side: "before" }), "w#1");
  const reading = run.decide(eventOf({ ...post, label: "GET /x", side: "before", access: "read" }), "w#1");
  const beat = run.decide(eventOf({ ...post, side: "before", noWindow: "heartbeat" }), "w#1");
  expect([next.do, reading.do, beat.do]).toEqual(["hold", "forward", "forward"]);
  run.drop();
  expect(next.do === "hold" && (await next.until).do).toBe("drop");
  expect(run.decide(eventOf({ ...post, label: "POST /other", side: "before" }), "w#2").do).toBe("forward");
});

test("a run that never comes to its window has neither been reached nor fired", () => {
  const run = new HeldRun("kp1", "automatic", {
    window: window(post.label, 2, "after"),
    verb: "drop-answer",
  });
  run.decide(eventOf({ ...post, side: "after" }), "w#1");
  expect([run.reached, run.fired]).toEqual([false, false]);
});

test("dropping an answer fires by itself", () => {
  const run = new HeldRun("kp1", "automatic", {
    window: window(post.label, 1, "after"),
    verb: "drop-answer",
  });
  expect(run.decide(eventOf({ ...post, side: "after" }), "w#1").do).toBe("drop");
  expect(run.fired).toBe(true);
});

test("so does dropping a request, which never arrives", () => {
  const run = new HeldRun("kp1", "automatic", {
    window: window(post.label, 1, "before"),
    verb: "drop-request",
  });
  expect(run.decide(eventOf({ ...post, side: "before" }), "w#1").do).toBe("drop");
  expect(run.fired).toBe(true);
});

test("events are led to their runs; what belongs to nobody is on record", () => {
  const lab = new LabController();
  const [first, second] = [new HeldRun("kp1", "s", undefined), new HeldRun("kp2", "s", undefined)];
  lab.add(first);
  lab.add(second);
  const tap = lab.forInstance({ id: "worker#1", state: "active", backendPids: new Set() });
  tap.decide(eventOf({ ...post, side: "after", runTokens: ["kp1", "kp2"] }));
  tap.decide(eventOf({ ...post, side: "after", runTokens: ["kp2"] }));
  expect([first.seen.length, second.seen.length]).toEqual([1, 2]);
  expect(lab.strays).toEqual([]);

  tap.decide(eventOf({ ...post, side: "before", runTokens: [], attribution: "unattributed" }));
  tap.decide(eventOf({ ...post, side: "after", runTokens: [], attribution: "unattributed" }));
  tap.decide(eventOf({ ...post, side: "after", runTokens: ["kp9"] }));
  expect(lab.strays.map(({ token }) => token)).toEqual([null, "kp9"]);

  lab.retire(first);
  tap.decide(eventOf({ ...post, side: "after", runTokens: ["kp1"] }));
  expect(lab.strays).toHaveLength(2);
  expect(first.seen).toHaveLength(1);
});

test("a held run whose work was given out again has slipped; its kill would fall elsewhere", () => {
  const run = new HeldRun("kp1", "automatic", { window: window(post.label, 1, "before"), verb: "kill" });
  const delivery = (attempt: number) =>
    eventOf({
      label: "PollWorkflowTaskQueue",
      side: "after",
      runTokens: ["kp1"],
      details: {
        kind: "temporal",
        connection: { generation: 1, clientPort: 1 },
        call: "PollWorkflowTaskQueue",
        workflowId: "w",
        workflowType: "w",
        commands: [],
        task: null,
        delivered: [
          {
            kind: "workflow-task",
            taskToken: "",
            workflowId: "w",
            runId: "r",
            workflowType: "w",
            activityType: null,
            activityId: null,
            attempt,
            identity: "worker@1",
            eager: false,
          },
        ],
      },
    });
  run.decide(delivery(2), "w#1");
  run.decide(eventOf({ ...post, side: "before" }), "w#1");
  run.decide(delivery(1), "w#1");
  expect(run.slipped).toBe(false);
  run.decide(delivery(2), "w#1");
  expect(run.slipped).toBe(true);
});

test("while one process is held for its kill, the others go on with the run", async () => {
  const run = new HeldRun("kp1", "automatic", { window: window(post.label, 1, "before"), verb: "kill" });
  expect(run.decide(eventOf({ ...post, side: "before" }), "worker#1").do).toBe("hold");
  expect(run.decide(eventOf({ ...post, side: "before", process: "relay" }), "relay#1").do).toBe("forward");
  expect(run.decide(eventOf({ ...post, label: "insert", side: "before" }), "worker#1").do).toBe("hold");
});
