import { describe, expect, test } from "vitest";

import {
  checkedOperationKey,
  InvalidOperationKey,
  operationKey,
  operationKeyLengthMax,
  providerKeyOf,
} from "../../../activities/operation/keys.js";

test("a key names the case, the thing, the operation and the step", () => {
  expect(operationKey({ case: "invoice", businessId: "inv-7", operation: "post" })).toBe(
    "invoice:inv-7:post",
  );
  expect(operationKey({ case: "invoice", businessId: "inv-7", operation: "mail", step: "approver-2" })).toBe(
    "invoice:inv-7:mail:approver-2",
  );
  expect(operationKey({ case: "incident", businessId: ["fp-1", "3", "2"], operation: "execute" })).toBe(
    "incident:fp-1:3:2:execute",
  );
});

describe("a part that would let two operations share a key is refused", () => {
  test.each(["", "a:b", "a/try-2", "a b", "a\n", "ä", "\u0000"])("%j", (businessId) => {
    const build = () => operationKey({ case: "invoice", businessId, operation: "post" });
    expect(build).toThrow(InvalidOperationKey);
    expect(build).toThrow(`businessId is ${JSON.stringify(businessId)}; allowed:`);
  });
  test("no part at all", () => {
    expect(() => operationKey({ case: "a", businessId: [], operation: "b" })).toThrow(InvalidOperationKey);
  });
  test("too long", () => {
    const businessId = "x".repeat(operationKeyLengthMax);
    expect(() => operationKey({ case: "a", businessId, operation: "b" })).toThrow("at most 240");
  });
});

test("a key from elsewhere is checked the same way", () => {
  expect(checkedOperationKey("a:b:c")).toBe("a:b:c");
  for (const key of ["", "a:b", "a::c", "a:b:c/try-2", "a:b: "]) {
    expect(() => checkedOperationKey(key), key).toThrow(InvalidOperationKey);
  }
});

test("the first try goes out under the key itself, each later one under its own", () => {
  expect([1, 2, 3].map((number) => providerKeyOf("a:b:c", number))).toEqual([
    "a:b:c",
    "a:b:c/try-2",
    "a:b:c/try-3",
  ]);
});
