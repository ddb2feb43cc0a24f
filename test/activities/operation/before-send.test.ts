import { expect, test } from "vitest";

import { isStillSendable } from "../../../activities/operation/before-send.js";

const policy = {
  honoursKeys: true,
  keysLiveForMs: null,
  canFind: true,
  settleMs: 10_000,
  parkAfterMs: 60_000,
};
const expiring = { ...policy, keysLiveForMs: 20_000 };
const withoutKeys = { ...policy, honoursKeys: false };

test.each([
  [
    "keys for ever, however late",
    { policy, firstSubmittedAt: 0, submittedAt: 999_999, heldUpForMs: 999_999 },
    true,
  ],
  [
    "no keys, at once",
    { policy: withoutKeys, firstSubmittedAt: 5, submittedAt: 5, heldUpForMs: 1_000 },
    true,
  ],
  ["no keys, late", { policy: withoutKeys, firstSubmittedAt: 5, submittedAt: 5, heldUpForMs: 1_001 }, false],
  [
    "no keys, a small settleMs and an ordinary statement",
    { policy: { ...withoutKeys, settleMs: 0 }, firstSubmittedAt: 5, submittedAt: 5, heldUpForMs: 100 },
    true,
  ],
  ["a new key, at once", { policy: expiring, firstSubmittedAt: 5, submittedAt: 5, heldUpForMs: 0 }, true],
  ["a new key, late", { policy: expiring, firstSubmittedAt: 5, submittedAt: 5, heldUpForMs: 1_001 }, false],
  [
    "a key in its first half",
    { policy: expiring, firstSubmittedAt: 0, submittedAt: 9_999, heldUpForMs: 0 },
    true,
  ],
  [
    "a key that grew old since it was decided",
    { policy: expiring, firstSubmittedAt: 0, submittedAt: 10_000, heldUpForMs: 0 },
    false,
  ],
] as const)("%s: %#", (_, beforeSend, sendable) => {
  expect(isStillSendable(beforeSend)).toBe(sendable);
});
