import { expect, test } from "vitest";
import { failures, nonRetryableFailures } from "../../failures/catalogue.js";

test("only failures that a repeated call can mend are left retryable", () => {
  expect(nonRetryableFailures).not.toContain("OutcomeUnknown");
  expect(nonRetryableFailures).toContain("OperationConflict");
});

test("every failure says what it means in one sentence", () => {
  for (const [name, kind] of Object.entries(failures)) {
    expect(kind.meaning, name).toMatch(/^[A-Z].*\.$/);
    expect(kind.httpStatus, name).toBeGreaterThanOrEqual(400);
  }
});
