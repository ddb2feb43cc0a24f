import fc from "fast-check";
import { expect, test } from "vitest";

import { digestOf, NotStorable, storableJson } from "../../../adapters/ledger/json.js";

test("the order of properties and an absent optional one change nothing", () => {
  const one = { b: 1, a: [true, null, "x"], c: undefined };
  const other = { a: [true, null, "x"], b: 1 };
  expect(storableJson("body", one)).toBe('{"a":[true,null,"x"],"b":1}');
  expect(digestOf("body", one)).toBe(digestOf("body", other));
});

test.each([
  [{ a: [1, Number.NaN] }, "body.a[1] is NaN; allowed: a finite number."],
  [{ a: undefined, b: [undefined] }, "body.b[0] is undefined"],
  [{ when: new Date(0) }, "body.when is a Date; allowed: a plain object or an array."],
  [{ a: { b: 10n } }, "body.a.b is bigint"],
  [{ a: "x\u0000y" }, "body.a holds U+0000"],
  [{ a: "\ud800" }, "body.a holds U+0000 or half a surrogate pair"],
  [{ "\u0000": 1 }, "body's key holds U+0000"],
])("what isn't JSON is refused by path: %o", (value, message) => {
  expect(() => storableJson("body", value)).toThrow(NotStorable);
  expect(() => storableJson("body", value)).toThrow(message);
});

test("a value that contains itself is refused", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  expect(() => storableJson("body", circle)).toThrow("body.self contains itself");
});

test("any JSON value comes back the same, or is refused for a character that can't be stored", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.stringify(value);
      const unstorable = plain.includes("\\u0000") || /\\ud[89a-f]/.test(plain);
      expect(storedOrRefused(value)).toEqual(unstorable ? "refused" : JSON.parse(plain));
    }),
  );
});

function storedOrRefused(value: unknown): unknown {
  try {
    return JSON.parse(storableJson("body", value));
  } catch (error) {
    if (error instanceof NotStorable) {
      return "refused";
    }
    throw error;
  }
}
