import { expect, test } from "vitest";
import type { LabProfile, Story } from "../../../crash-lab/lab-definition.js";
import { Actors } from "../../../crash-lab/run/actors.js";
import { endingOf } from "../../../crash-lab/run/ending.js";
import { HeldRun } from "../../../crash-lab/run/held-run.js";
import type { CrashLabDefinition } from "../../../crash-lab/lab-definition.js";

const profile: LabProfile = { name: "quick", workflowTaskTimeoutMs: 2_000, deadlineMs: 10_000 };
const stage = { ingress: { api: "http://127.0.0.1:7" }, profile };

function play(story: Partial<Story<string>>) {
  const told = { request: "POST /orders", status: 202 };
  const stories: Record<string, Story<string>> = {
    paid: {
      tells: "",
      victims: [],
      start: async () => [told],
      ended: async () => ({ state: "closed" }),
      workflowIds: () => [],
      ...story,
    },
  };
  const definition = { stories } as unknown as CrashLabDefinition<string>;
  const actors = new Actors(definition, "surroundings", stage);
  const run = new HeldRun("kp1", "paid", undefined);
  const closing = new AbortController().signal;
  return {
    told,
    start: () => actors.start(run),
    ending: () => endingOf(definition, { environment: "surroundings", actors, profile }, run, closing),
  };
}

test("whoever acts on what is seen acts from the start of the run, and knows where callers go", async () => {
  let seen: unknown[] = [];
  let acted!: () => void;
  const hasActed = new Promise<void>((resolve) => (acted = resolve));
  const { start, told } = play({
    drive: async (environment, token, _signal, where) => {
      seen = [environment, token, where];
      acted();
    },
  });
  expect(await start()).toEqual([told]);
  await hasActed;
  // An undisturbed run gets time, so that no time-out passes on a busy machine.
  const patient = { ...stage, profile: { ...profile, workflowTaskTimeoutMs: 10_000 } };
  expect(seen).toEqual(["surroundings", "kp1", patient]);
});

test("when the run has ended they are sent home, and what they were told is kept", async () => {
  const answer = { request: "POST /decisions", status: 200 };
  const { start, ending } = play({
    drive: async (_environment, _token, signal) => {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return [answer];
    },
  });
  await start();
  expect(await ending()).toEqual({ standing: { state: "closed" }, told: [answer] });
});

test("one who fails while the run goes on ends the wait for it", async () => {
  const { start, ending } = play({
    drive: () => Promise.reject(new Error("the API answered 403")),
    ended: () => new Promise(() => undefined),
  });
  await start();
  await expect(ending()).rejects.toThrow("the API answered 403");
});

test("one who is interrupted by the end of the run has not failed", async () => {
  const { start, ending } = play({
    drive: (_environment, _token, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      ),
  });
  await start();
  expect(await ending()).toEqual({ standing: { state: "closed" }, told: [] });
});
