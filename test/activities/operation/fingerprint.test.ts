import { expect, test } from "vitest";

import {
  fingerprintOf,
  matchesFingerprint,
  type BusinessProjection,
} from "../../../activities/operation/fingerprint.js";

interface Posting {
  readonly id: string;
  readonly amountMinor: number;
  readonly currency?: string;
  readonly note?: string;
}

const first: BusinessProjection<Posting> = { version: 1, of: ({ id, amountMinor }) => ({ id, amountMinor }) };
const second: BusinessProjection<Posting> = {
  version: 2,
  of: ({ id, amountMinor, currency = "EUR" }) => ({ id, amountMinor, currency }),
  earlier: [first],
};

test("is the SHA-256 of the canonical form, whatever order the fields are given in", () => {
  const reversed: BusinessProjection<Posting> = {
    version: 1,
    of: ({ id, amountMinor }) => ({ amountMinor, id }),
  };
  const posting = { id: "a", amountMinor: 1 };
  expect(fingerprintOf(posting, first)).toEqual(fingerprintOf(posting, reversed));
  // printf '{"projection":{"amountMinor":1,"id":"a"},"version":1}' | sha256sum
  expect(fingerprintOf(posting, first).digest).toBe(
    "3a813efc275aa4f3de7b9e427cc1559c9f48d28a9db2c7e76975e35a96f48373",
  );
});

test("a field outside the projection changes nothing, one inside does", () => {
  const posting = { id: "a", amountMinor: 1 };
  expect(fingerprintOf({ ...posting, note: "new field" }, first)).toEqual(fingerprintOf(posting, first));
  expect(fingerprintOf({ ...posting, amountMinor: 2 }, first)).not.toEqual(fingerprintOf(posting, first));
});

test("a stored fingerprint is compared under the version it was stored with", () => {
  const stored = fingerprintOf({ id: "a", amountMinor: 1 }, first);
  expect(matchesFingerprint(stored, { id: "a", amountMinor: 1, currency: "USD" }, second)).toBe(true);
  expect(matchesFingerprint(stored, { id: "a", amountMinor: 2 }, second)).toBe(false);
  expect(
    matchesFingerprint(
      fingerprintOf({ id: "a", amountMinor: 1 }, second),
      { id: "a", amountMinor: 1 },
      first,
    ),
  ).toBe(false);
});

test("what isn't JSON has no fingerprint", () => {
  expect(() => fingerprintOf({ id: "a", amountMinor: Number.NaN }, first)).toThrow(Error);
});
