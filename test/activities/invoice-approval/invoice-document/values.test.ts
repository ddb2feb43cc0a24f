import { expect, test } from "vitest";
import { sumMinor, totalMinor } from "../../../../activities/invoice-approval/invoice-document/values.js";

const largest = Number.MAX_SAFE_INTEGER;

test("adds amounts exactly that cancel each other", () => {
  expect(sumMinor([largest, 2, -largest])).toBe(2n);
  expect(totalMinor("field", [largest, 2, -largest])).toBe(2);
  expect(totalMinor("field", [])).toBe(0);
});

test("refuses a sum that isn't exact as a number, naming the field", () => {
  expect(() => totalMinor("Invoice/Line", [largest, 1])).toThrow(
    'Invoice/Line is "9007199254740992"; allowed: a sum of at most 9007199254740991 minor units',
  );
  expect(() => totalMinor("field", [-largest, -1])).toThrow("-9007199254740992");
});
