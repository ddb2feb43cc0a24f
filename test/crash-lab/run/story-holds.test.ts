import { expect, test } from "vitest";
import { LabController } from "../../../crash-lab/run/controller.js";
import { HeldRun } from "../../../crash-lab/run/held-run.js";
import { storyHolds } from "../../../crash-lab/run/story-holds.js";
import type { Story } from "../../../crash-lab/lab-definition.js";
import { eventOf } from "./fake-events.js";

const closing = new AbortController().signal;
const hint = { process: "relay", tap: "temporal", label: "Signal:closed", runTokens: ["kp1"] } as const;

function raced(until: () => Promise<void>) {
  const story = {
    holds: [{ process: "relay", tap: "temporal", label: /^Signal/, side: "before", until }],
  } as unknown as Story<undefined>;
  const controller = new LabController(storyHolds({ stories: { race: story } }, undefined, closing));
  const start = (target?: { window: string; verb: "kill" }): HeldRun => {
    const run = new HeldRun("kp1", "race", target);
    controller.add(run);
    return run;
  };
  const taps = controller.forInstance({ id: "relay#1", state: "active", backendPids: new Set() });
  return { start, decide: (event: Parameters<typeof eventOf>[0]) => taps.decide(eventOf(event)) };
}

test("a message that the story names waits for its fact and goes on then", async () => {
  let see!: () => void;
  const fact = new Promise<void>((resolve) => (see = resolve));
  const { start, decide } = raced(() => fact);
  start();
  const decision = await decide({ ...hint, side: "before" });
  expect(decision.do).toBe("hold");
  see();
  expect(decision.do === "hold" && (await decision.until).do).toBe("forward");
});

test("another process, tap, label or side doesn't wait", async () => {
  const { start, decide } = raced(() => new Promise(() => undefined));
  start();
  for (const other of [
    { ...hint, side: "after" as const },
    { ...hint, side: "before" as const, process: "worker" },
    { ...hint, side: "before" as const, tap: "mail" },
    { ...hint, side: "before" as const, label: "Start" },
  ])
    expect((await decide(other)).do).toBe("forward");
});

test("a kill at the same message comes first", async () => {
  const { start, decide } = raced(() => Promise.reject(new Error("never asked")));
  const run = start({ window: "race/relay/temporal/Signal%3Aclosed/1/before", verb: "kill" });
  const decision = await decide({ ...hint, side: "before" });
  run.drop();
  expect(decision.do === "hold" && (await decision.until).do).toBe("drop");
});
