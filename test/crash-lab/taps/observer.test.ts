import { describe, expect, it } from "vitest";
import type { Decision, TapController } from "../../../crash-lab/taps/event.js";
import { Departure, Observer, type EventDraft } from "../../../crash-lab/taps/observer.js";
import { Recorder } from "./recorder.js";

const draft = (over: Partial<EventDraft> = {}): EventDraft => ({
  label: "POST /postings",
  side: "before",
  exchange: 1,
  runTokens: ["kp0123456789ab"],
  access: "write",
  noWindow: null,
  key: null,
  digest: null,
  status: null,
  details: {
    kind: "http",
    connection: { generation: 1, clientPort: 1 },
    method: "POST",
    route: "/postings",
    path: "/postings",
    duplicateStatus: null,
  },
  ...over,
});

const observing = (controller: TapController) => new Observer("worker", "accounting", controller);
const never = new Promise<Decision>(() => {});

describe("what a tap does with a decision", () => {
  it("carries a hold on to the decision that ends it, also through several", async () => {
    const recorder = new Recorder();
    const last = { do: "hold", until: Promise.resolve<Decision>({ do: "drop" }) } as const;
    recorder.rule = () => ({ do: "hold", until: Promise.resolve<Decision>(last) });
    expect(await observing(recorder).rule(draft(), new Departure())).toBe("drop");
    expect(recorder.events).toHaveLength(1);
  });

  it.each([
    ["held", () => ({ do: "hold", until: never }) as const],
    ["being decided about", () => never],
  ])("drops what is %s when the process goes away", async (_, rule) => {
    const recorder = new Recorder();
    recorder.rule = rule;
    const departure = new Departure();
    const ruling = observing(recorder).rule(draft(), departure);
    departure.announce();
    expect(await ruling).toBe("drop");
  });

  it("says that a hold outlives the process, and goes on with it", async () => {
    const recorder = new Recorder();
    const held = recorder.hold(() => true, true);
    const departure = new Departure();
    let outliving = false;
    const ruling = observing(recorder).rule(draft(), departure, { outliving: () => (outliving = true) });
    await held.arrived;
    departure.announce();
    held.release();
    expect(await ruling).toBe("forward");
    expect(outliving).toBe(true);
  });

  it("reports a controller that fails, and lets the message go on", async () => {
    const notes: unknown[] = [];
    const failing = (decide: TapController["decide"]) =>
      observing({ decide, note: (note) => notes.push(note) });
    const thrown = () => {
      throw new Error("no plan");
    };
    for (const decide of [thrown, () => Promise.reject(new Error("no plan"))]) {
      expect(await failing(decide).rule(draft(), new Departure())).toBe("forward");
    }
    const note = { note: "fault", reason: "the controller failed at POST /postings before: no plan" };
    expect(notes).toEqual([note, note]);
  });
});

describe("whose an event is", () => {
  it("follows the token first, then what is declared", async () => {
    const recorder = new Recorder();
    const observer = new Observer("relay", "postgres", recorder, ["insert lease 1", /update lease \d+/g]);
    const nobodys = { runTokens: [] };
    for (const label of [
      "insert lease 1",
      "insert lease 12",
      "update lease 7",
      "update lease 8",
      "x update lease 7",
    ]) {
      await observer.rule(draft({ ...nobodys, label }), new Departure());
    }
    await observer.rule(draft({ label: "insert lease 1" }), new Departure());
    await observer.rule(draft({ ...nobodys, service: true }), new Departure());
    expect(recorder.events.map(({ attribution }) => attribution)).toEqual([
      "service",
      "unattributed",
      "service",
      "service",
      "unattributed",
      "run",
      "service",
    ]);
    expect(recorder.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(observer.serviceCounts()).toEqual({
      "POST /postings": 1,
      "insert lease 1": 1,
      "update lease 7": 1,
      "update lease 8": 1,
    });
  });
});
