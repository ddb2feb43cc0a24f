import { expect, test } from "vitest";

import { afterAnswer } from "../../../activities/operation/after-answer.js";
import type { Answer } from "../../../activities/operation/provider.js";

type Receipt = { readonly amountMinor: number };
const ours = { amountMinor: 100 };
const another = { amountMinor: 200 };
const sameEffect = (receipt: Receipt) => receipt.amountMinor === 100;

const table: readonly [Answer<Receipt>, object][] = [
  [
    { outcome: "done", receipt: ours },
    { record: "receipt", receipt: ours, outcome: "done" },
  ],
  [
    { outcome: "done", receipt: another },
    { record: "parked", reason: "other-effect-present", evidence: { present: another } },
  ],
  [
    { outcome: "superseded", receipt: another },
    { record: "receipt", receipt: another, outcome: "superseded" },
  ],
  [
    { outcome: "accepted", operationUrl: "u", pollAfterMs: 5 },
    { record: "accepted", operationUrl: "u", pollAfterMs: 5 },
  ],
  [
    { outcome: "refused", code: "no", detail: "d" },
    { record: "refused", refusal: { code: "no", detail: "d" } },
  ],
  [
    { outcome: "inProgress", retryAfterMs: 5 },
    { record: "unknown", cause: "in progress at the provider", retryAfterMs: 5 },
  ],
  [
    { outcome: "exists", detail: "d" },
    { record: "after-asking", detail: "d" },
  ],
  [
    { outcome: "conflict", detail: "d" },
    { record: "parked", reason: "key-used-for-another-request", evidence: { said: "d" } },
  ],
  [
    { outcome: "unknown", cause: "503" },
    { record: "unknown", cause: "503" },
  ],
  [
    { outcome: "unknown", cause: "429", retryAfterMs: 7 },
    { record: "unknown", cause: "429", retryAfterMs: 7 },
  ],
];

test.each(table)("%j → %j", (answer, toRecord) => {
  expect(afterAnswer(answer, sameEffect)).toEqual(toRecord);
});
