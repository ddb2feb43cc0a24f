import { describe, expect, test } from "vitest";
import type { CaseEvidence, Effect } from "../../../crash-lab/judge/evidence.js";
import { judge } from "../../../crash-lab/judge/judge.js";
import { exitCodeOf, passes, verdictNames } from "../../../crash-lab/judge/verdicts.js";

const posting: Effect = {
  system: "accounting",
  subject: "posting:<run>",
  contentDigest: "aaaa",
  sequence: 1,
};
const mail: Effect = { system: "mail", subject: "mail:<run>", contentDigest: "bbbb", sequence: 1 };
const golden = { effects: [posting, mail] };

/** A case in which everything went as it should; each test doctors one thing. */
const sound: CaseEvidence = {
  fault: {
    verb: "kill",
    reached: true,
    fired: true,
    victim: { pid: 41, signal: "SIGKILL", connectionsBroken: true, identity: "worker@41", lostTasks: [] },
  },
  ending: { state: "closed" },
  effects: [posting, mail],
  told: [],
  history: [],
  replay: { ok: true, detail: "" },
  invariants: [{ name: "one posting", holds: true, detail: "" }],
  missedExpectations: [],
};

const verdictOf = (change: Partial<CaseEvidence>) => judge({ ...sound, ...change }, golden).verdict;
const fault = (change: Partial<CaseEvidence["fault"]>) => ({ fault: { ...sound.fault, ...change } });
const victim = (change: object) => fault({ victim: { ...sound.fault.victim!, ...change } });

test("an undoctored case is once", () => expect(verdictOf({})).toBe("once"));

describe("a case that tested nothing is never green", () => {
  test("window not reached", () => expect(verdictOf(fault({ reached: false }))).toBe("unreached"));
  test("fault not fired", () => expect(verdictOf(fault({ fired: false }))).toBe("vacuous"));
  test("no victim on record", () => {
    const { victim: _gone, ...rest } = sound.fault;
    expect(verdictOf({ fault: rest })).toBe("vacuous");
  });
  test("the victim ended by itself", () => expect(verdictOf(victim({ signal: null }))).toBe("vacuous"));
  test("the victim was asked politely", () =>
    expect(verdictOf(victim({ signal: "SIGTERM" }))).toBe("vacuous"));
  test("another process died than the one that owns the connections", () =>
    expect(verdictOf(victim({ connectionsBroken: false }))).toBe("vacuous"));
  describe("a lost activity was done by another", () => {
    const task = {
      workflowId: "w",
      runId: "r",
      activityId: "3",
      activityType: "postInvoice",
      attempt: 1,
      identity: "worker@41",
    };
    const started = (attempt: number, identity: string) => ({
      history: [
        {
          workflowId: "w",
          runId: "r",
          eventId: 9,
          at: "2026-01-01T00:00:00.000Z",
          type: "ACTIVITY_TASK_STARTED",
          activityId: "3",
          attempt,
          identity,
        },
      ],
    });
    const lost = victim({ lostTasks: [task] });
    test("by a second attempt of another worker", () =>
      expect(verdictOf({ ...lost, ...started(2, "worker@42") })).toBe("once"));
    test("by nobody yet, which says nothing", () => expect(verdictOf(lost)).toBe("once"));
    test("by the very process that should be dead", () =>
      expect(verdictOf({ ...lost, ...started(2, "worker@41") })).toBe("vacuous"));
    test("in the first attempt, so that it was never lost", () =>
      expect(verdictOf({ ...lost, ...started(1, "worker@42") })).toBe("vacuous"));
  });
  test("a missing journal does not hide that", () =>
    expect(verdictOf({ ...fault({ fired: false }), effects: [] })).toBe("vacuous"));
});

describe("a doctored journal", () => {
  test("a row taken out", () => expect(verdictOf({ effects: [mail] })).toBe("lost"));
  test("a row twice", () =>
    expect(verdictOf({ effects: [posting, { ...posting, sequence: 2 }, mail] })).toBe("duplicated"));
  test("other content", () =>
    expect(verdictOf({ effects: [{ ...posting, contentDigest: "cccc" }, mail] })).toBe("diverged"));
  test("a second row with other content", () =>
    expect(verdictOf({ effects: [posting, { ...posting, contentDigest: "cccc", sequence: 2 }, mail] })).toBe(
      "diverged",
    ));
  test("a row about something nobody asked for", () =>
    expect(verdictOf({ effects: [posting, mail, { ...posting, subject: "posting:other" }] })).toBe(
      "diverged",
    ));
  test("one system's row does not stand in for another's", () =>
    expect(verdictOf({ effects: [posting, { ...mail, system: "accounting" }] })).toBe("diverged"));
  test("one row too few here and one too many there do not cancel out", () =>
    expect(verdictOf({ effects: [posting, { ...posting, sequence: 2 }] })).toBe("duplicated"));
});

describe("the rest of the evidence", () => {
  test("an invariant broken", () =>
    expect(verdictOf({ invariants: [{ name: "x", holds: false, detail: "y" }] })).toBe("violated"));
  test("not ended", () =>
    expect(verdictOf({ ending: { state: "open", pending: ["postInvoice"] } })).toBe("stuck"));
  test("not ended and nothing posted yet is stuck, not lost", () =>
    expect(verdictOf({ effects: [], ending: { state: "open", pending: [] } })).toBe("stuck"));
  test("not ended but doubled is doubled", () =>
    expect(verdictOf({ effects: [posting, posting, mail], ending: { state: "open", pending: [] } })).toBe(
      "duplicated",
    ));
  test("replay failed", () =>
    expect(verdictOf({ replay: { ok: false, detail: "x" } })).toBe("nondeterministic"));
  test("expectation missed", () => expect(verdictOf({ missedExpectations: ["parked"] })).toBe("unexpected"));
});

describe("states that may lack effects", () => {
  test("parked with its recovery row", () =>
    expect(verdictOf({ effects: [], ending: { state: "parked", recoveryRow: "17" } })).toBe("parked"));
  test("parked but doubled", () =>
    expect(verdictOf({ effects: [posting, posting], ending: { state: "parked", recoveryRow: "17" } })).toBe(
      "duplicated",
    ));
  test("never admitted, caller told nothing", () =>
    expect(
      verdictOf({ effects: [], ending: { state: "absent" }, told: [{ request: "POST", status: 503 }] }),
    ).toBe("not-admitted"));
  test("never admitted although the caller was told 202", () =>
    expect(
      verdictOf({ effects: [], ending: { state: "absent" }, told: [{ request: "POST", status: 202 }] }),
    ).toBe("lost"));
});

test("the lab's exit code", () => {
  expect(exitCodeOf([])).toBe(2); // nothing judged is no success
  expect(exitCodeOf(["once", "parked", "not-admitted"])).toBe(0);
  expect(exitCodeOf(["once", "harness", "duplicated"])).toBe(2);
  for (const verdict of verdictNames.filter((name) => name !== "harness"))
    expect(exitCodeOf(["once", verdict]), verdict).toBe(passes(verdict) ? 0 : 1);
});
