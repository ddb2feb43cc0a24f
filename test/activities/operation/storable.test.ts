import fc from "fast-check";
import { expect, test } from "vitest";
import { isStorable, storableAnswer, storableFound } from "../../../activities/operation/storable.js";
import type { JsonValue } from "../../../activities/operation/json.js";
import type { Answer, Found } from "../../../activities/operation/provider.js";
import { NotStorable, storableJson } from "../../../adapters/ledger/json.js";

const anyText = fc
  .string({ unit: "binary" })
  .chain((text) => fc.constantFrom(text, `${text}\0`, `${text}\ud800`, `\udc00${text}`));
const anyReceipt = fc.dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.array(anyText)));
const anyAnswer: fc.Arbitrary<Answer<JsonValue>> = fc.oneof(
  fc.record({ outcome: fc.constant("done" as const), receipt: anyReceipt }),
  fc.record({ outcome: fc.constant("superseded" as const), receipt: anyReceipt }),
  fc.record({ outcome: fc.constant("accepted" as const), operationUrl: anyText, pollAfterMs: fc.nat() }),
  fc.record({ outcome: fc.constant("refused" as const), code: anyText, detail: anyText }),
  fc.record({ outcome: fc.constantFrom("exists" as const, "conflict" as const), detail: anyText }),
  fc.record({ outcome: fc.constant("inProgress" as const), retryAfterMs: fc.nat() }),
  fc.record({ outcome: fc.constant("unknown" as const), cause: anyText, retryAfterMs: fc.nat() }),
);
const anyFound: fc.Arbitrary<Found<JsonValue>> = fc.oneof(
  fc.record({ found: fc.constant("present" as const), receipt: anyReceipt }),
  fc.record({ found: fc.constant("absent" as const) }),
  fc.record({ found: fc.constant("unknown" as const), cause: anyText }),
);

const canBeStored = (value: unknown): boolean => {
  try {
    storableJson("value", value);
    return true;
  } catch (error) {
    if (error instanceof NotStorable) return false;
    throw error;
  }
};

test("whatever a provider says, what comes of it can be stored", () => {
  fc.assert(fc.property(anyAnswer, (answer) => void expect(canBeStored(storableAnswer(answer))).toBe(true)));
  fc.assert(fc.property(anyFound, (found) => void expect(canBeStored(storableFound(found))).toBe(true)));
});

test("what can be stored stays as it is, and the ledger agrees on what can", () => {
  fc.assert(
    fc.property(fc.oneof(anyReceipt, anyText), (value) => {
      expect(isStorable(value)).toBe(canBeStored(value));
    }),
  );
  fc.assert(
    fc.property(anyAnswer, (answer) => {
      fc.pre(canBeStored(answer));
      expect(storableAnswer(answer)).toEqual(answer);
    }),
  );
});

test("a receipt that can't be kept is no proof, and what it held is shown", () => {
  expect(storableAnswer({ outcome: "done", receipt: { id: "E-1\0" } })).toEqual({
    outcome: "unknown",
    cause: 'answered with what can\'t be kept: {"id":"E-1\\u0000"}',
  });
});
