/** Answers that Postgres can't keep: recorded as far as they can be, and in the end a person's. */
import { expect, test } from "vitest";
import { perform } from "../../../activities/operation/perform.js";
import type { Answer, EffectProvider } from "../../../activities/operation/provider.js";
import { createOperationJournal } from "../../../adapters/ledger/operations/journal.js";
import { ledgerDatabase } from "../../support/database.js";

const database = ledgerDatabase();

type Receipt = { readonly id: string };

const answers: readonly (readonly [string, Answer<Receipt>, { state: string; reason?: string }])[] = [
  [
    "receipt-nul",
    { outcome: "done", receipt: { id: "E-1\0" } },
    { state: "parked", reason: "no-outcome-in-time" },
  ],
  [
    "receipt-half",
    { outcome: "done", receipt: { id: "E-1\ud800" } },
    { state: "parked", reason: "no-outcome-in-time" },
  ],
  ["refusal", { outcome: "refused", code: "period\0closed", detail: "closed\0" }, { state: "refused" }],
  [
    "cause",
    { outcome: "unknown", cause: "status 400 x\0" },
    { state: "parked", reason: "no-outcome-in-time" },
  ],
  [
    "conflict",
    { outcome: "conflict", detail: "c\0" },
    { state: "parked", reason: "key-used-for-another-request" },
  ],
];

test.each(answers)("%s", async (name, answer, expected) => {
  const { ledger } = database;
  const key = `payment:${name}:capture`;
  const provider: EffectProvider<{ amount: number }, Receipt> = {
    name: "payments",
    policy: { honoursKeys: true, keysLiveForMs: null, canFind: false, settleMs: 0, parkAfterMs: 1 },
    send: async () => answer,
    sameEffect: () => true,
  };
  const call = () =>
    perform(
      {
        journal: createOperationJournal(ledger),
        provider,
        key,
        request: { amount: 1 },
        projection: { version: 1, of: ({ amount }) => ({ amount }) },
      },
      { attempt: 1, worker: "test", signal: new AbortController().signal },
    );
  // The first call opens the operation; a later one, past `parkAfterMs`, hands it to a person.
  let ended: unknown;
  for (let calls = 0; calls < 3; calls += 1) ended = await call().catch((error: unknown) => error);
  expect(ended).toMatchObject({ name: expected.state === "parked" ? "OperationParked" : "OperationRefused" });
  const row = await ledger
    .selectFrom("operations")
    .select(["state", "parked_reason as reason"])
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
  expect(row).toMatchObject(expected);
});
