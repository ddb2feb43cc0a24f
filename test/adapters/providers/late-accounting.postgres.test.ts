/**
 * An accounting system that commits later than its client waits, in every variant: with keys, with unique document
 * numbers, with neither, with expired keys, with a refusal that was repaired. The real `perform`, the real ledger and
 * the real adapter; counted in accounting's own journal.
 */
import { setTimeout as backOff } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  operationKey,
  OutcomeUnknown,
  perform,
  type ProviderPolicy,
} from "../../../activities/operation/index.js";
import type { InvoicePosting } from "../../../activities/ports.js";
import { createOperationJournal } from "../../../adapters/ledger/index.js";
import { createAccountingProvider } from "../../../adapters/providers/index.js";
import type { FaultInput } from "../../../scenarios/world/control.js";
import { ledgerDatabase } from "../../support/database.js";
import { startTestWorld, worldSecrets, type TestWorld } from "../../support/world.js";

const database = ledgerDatabase();
let world: TestWorld;
beforeAll(async () => {
  world = await startTestWorld();
});
afterAll(() => world.dispose());

/** The commit comes this late, and the client gives up long before. */
const lateMs = 4_000;
const clientMs = 1_000;
const withKeys: ProviderPolicy = {
  honoursKeys: true,
  keysLiveForMs: null,
  canFind: true,
  settleMs: 5_500,
  parkAfterMs: 30_000,
};
const withoutKeys: ProviderPolicy = { ...withKeys, honoursKeys: false };

function posting(run: string): InvoicePosting {
  return {
    invoiceKey: `acme.INV-${run}-31`,
    revision: 1,
    supplierId: "supplier-9",
    invoiceNumber: `31-${run}`,
    currency: "EUR",
    amountMinor: 12_000,
    payloadDigest: "ab".repeat(32),
  };
}

const tell = (run: string, fault: Record<string, unknown>) =>
  world.control.tellFault({ run, system: "accounting", ...fault } as FaultInput);

/** Calls `perform` as an activity does, and retries it as Temporal would while the outcome is unknown. */
function poster(run: string, policy: ProviderPolicy) {
  const journal = createOperationJournal(database.ledger);
  const provider = createAccountingProvider({
    baseUrl: world.baseUrl("accounting"),
    apiKey: worldSecrets.WORLD_ACCOUNTING_API_KEY,
    timeoutMs: clientMs,
    policy,
  });
  const key = operationKey({ case: "invoice", businessId: posting(run).invoiceKey, operation: "post" });
  const projection = { version: 1, of: (request: InvoicePosting) => request };
  const context = { attempt: 1, worker: "test", signal: new AbortController().signal, patienceMs: 20_000 };
  return async (repair = 0) => {
    for (;;) {
      try {
        return await perform({ journal, provider, key, request: posting(run), projection, repair }, context);
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) throw error;
        await backOff(error.retryAfterMs ?? 100);
      }
    }
  };
}

const postings = (run: string) => world.journal.postingsOf(posting(run).invoiceKey);
const requests = async (run: string) =>
  (await world.journal.read({ run })).filter(({ kind }) => kind === "received");

test("with keys: the same key until the commit is there; posted once", async () => {
  const run = world.newRun();
  await tell(run, { kind: "lateCommit", ms: lateMs, times: 1 });
  expect(await poster(run, withKeys)()).toMatchObject({
    outcome: "done",
    receipt: { invoiceKey: posting(run).invoiceKey, amountMinor: 12_000 },
  });
  expect(await postings(run)).toHaveLength(1);
  const sent = await requests(run);
  expect(sent.length).toBeGreaterThan(1);
  expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
});

test("without keys, unique document numbers: what exists is found, compared and adopted", async () => {
  const run = world.newRun();
  await tell(run, { kind: "noKeys" });
  await tell(run, { kind: "exists" });
  expect(await poster(run, withoutKeys)()).toMatchObject({ outcome: "done" });
  expect(await postings(run)).toMatchObject([{ origin: "manual" }]);
});

test("what exists has another amount: parked, not adopted and not sent again", async () => {
  const run = world.newRun();
  await tell(run, { kind: "noKeys" });
  await tell(run, { kind: "exists", amountMinor: 11_000 });
  await expect(poster(run, withoutKeys)()).rejects.toMatchObject({ name: "OperationParked" });
  expect(await postings(run)).toHaveLength(1);
});

test("without keys and without uniqueness: settled, then found, and sent once only", async () => {
  const run = world.newRun();
  await tell(run, { kind: "noKeys" });
  await tell(run, { kind: "lateCommit", ms: lateMs, times: 1 });
  expect(await poster(run, withoutKeys)()).toMatchObject({ outcome: "done" });
  expect(await postings(run)).toHaveLength(1);
  expect((await requests(run)).filter(({ operation }) => operation === "post")).toHaveLength(1);
});

test("the key is forgotten before the answer was seen: found by our own reference", async () => {
  const run = world.newRun();
  await tell(run, { kind: "keysExpire", ms: 0 });
  await tell(run, { kind: "dropAnswer", operation: "post", times: 1 });
  // Half of one millisecond: the key is never believed alive.
  expect(await poster(run, { ...withKeys, keysLiveForMs: 1 })()).toMatchObject({ outcome: "done" });
  expect(await postings(run)).toHaveLength(1);
});

test("refused, repaired: the next try has a key of its own, since the first one's answer is a refusal for ever", async () => {
  const run = world.newRun();
  const { id } = await tell(run, { kind: "refuse", code: "period-closed" });
  const post = poster(run, withKeys);
  await expect(post()).rejects.toMatchObject({ name: "OperationRefused" });
  await world.control.removeFault(id);
  await expect(post()).rejects.toMatchObject({ name: "OperationRefused" });
  expect(await post(1)).toMatchObject({ outcome: "done" });
  const [posted, ...others] = await postings(run);
  expect(others).toEqual([]);
  expect(posted?.entry.idempotencyKey).toMatch(/\/try-2$/);
});

test.each([
  [401, withKeys],
  [503, withKeys],
  [401, withoutKeys],
  [503, withoutKeys],
] as const)(
  "answered %i for five seconds by a gateway: posted once, without a person",
  async (status, policy) => {
    const run = world.newRun();
    if (!policy.honoursKeys) await tell(run, { kind: "noKeys" });
    await tell(run, { kind: "unavailable", status, forMs: 5_000 });
    expect(await poster(run, policy)()).toMatchObject({ outcome: "done" });
    expect(await postings(run)).toHaveLength(1);
  },
);
