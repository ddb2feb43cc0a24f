import { expect, test } from "vitest";
import { parseSchedule, type ScheduleFile } from "../../../crash-lab/schedule/schedule-file.js";

const schedule: ScheduleFile = {
  schema: "killproof.crash-schedule/1",
  scenario: "invoice-approval",
  manifestHash: "0".repeat(64),
  profile: "quick",
  seed: 7,
  faults: [{ window: "automatic/worker/http/POST%20%2Fpostings/1/after", verb: "kill" }],
  verdict: "duplicated",
  notFixed: ["how the operating system interleaves processes"],
};

test("a schedule survives being written and read", () => {
  expect(parseSchedule(JSON.stringify(schedule), "case.json")).toEqual(schedule);
});

test.each([
  ["{", "case.json: not JSON"],
  [JSON.stringify({ ...schedule, schema: "other" }), "case.json: schema"],
  [JSON.stringify({ ...schedule, seed: -1 }), "case.json: seed"],
  [JSON.stringify({ ...schedule, manifestHash: "abc" }), "manifestHash: must be 64 hexadecimal digits"],
  [JSON.stringify({ ...schedule, faults: [] }), "case.json: faults"],
  [
    JSON.stringify({ ...schedule, faults: [{ window: "a/b", verb: "kill" }] }),
    "faults.0.window: window name",
  ],
  [JSON.stringify({ ...schedule, extra: 1 }), "extra"],
])("%s is refused: %s", (text, message) => expect(() => parseSchedule(text, "case.json")).toThrow(message));
