/** Whatever is asked and whatever goes wrong, the journal's committed rows are the state of the books. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultInput } from "../../../scenarios/world/control.js";
import { untilSettled } from "../../../scenarios/world/effects.js";
import { startTestWorld, worldSecrets, type TestWorld } from "../../support/world.js";

let world: TestWorld;
beforeAll(async () => {
  world = await startTestWorld();
});
afterAll(() => world.dispose());

const fault: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record({ kind: fc.constant("slow"), ms: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant("lateCommit"), ms: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant("errorAfterCommit"), replayed: fc.boolean() }),
  fc.record({ kind: fc.constant("exists"), amountMinor: fc.constantFrom(undefined, 3) }),
  fc.record({ kind: fc.constant("keysExpire"), ms: fc.constantFrom(0, 2, 1_000) }),
  fc.record({ kind: fc.constant("refuse"), code: fc.constant("period-closed") }),
  fc.record({ kind: fc.constantFrom("dropAnswer", "unavailable", "uniqueNumber", "noKeys") }),
);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("send" as const),
      key: fc.constantFrom("k1", "k2", null),
      invoice: fc.constantFrom(1, 2),
      amountMinor: fc.constantFrom(1, 2),
      abort: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("tell" as const),
      fault,
      times: fc.constantFrom(1, 2, undefined),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: "repair" as const }) },
  { weight: 1, arbitrary: fc.constant({ does: "await" as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function play(run: string, steps: readonly Step[]): Promise<void> {
  let underWay: Promise<unknown>[] = [];
  for (const each of steps) {
    switch (each.does) {
      case "tell": {
        const times = each.times === undefined ? {} : { times: each.times };
        await world.control.tellFault({ run, system: "accounting", ...times, ...each.fault } as FaultInput);
        break;
      }
      case "repair":
        await world.control.removeFaults(run);
        break;
      case "await":
        await Promise.all(underWay);
        underWay = [];
        break;
      case "send":
        underWay.push(send(run, each));
    }
  }
  await Promise.all(underWay);
}

async function send(run: string, step: Extract<Step, { does: "send" }>): Promise<unknown> {
  const abort = new AbortController();
  const sent = fetch(`${world.baseUrl("accounting")}/postings`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${worldSecrets.WORLD_ACCOUNTING_API_KEY}`,
      "content-type": "application/json",
      ...(step.key === null ? {} : { "idempotency-key": `${run}:${step.key}` }),
    },
    body: JSON.stringify({
      invoiceKey: `${run}:${step.invoice}`,
      revision: 1,
      supplierId: "s",
      invoiceNumber: `${run}:${step.invoice}`,
      currency: "EUR",
      amountMinor: step.amountMinor,
      payloadDigest: "d",
    }),
    signal: abort.signal,
  }).catch(() => undefined);
  if (step.abort) setImmediate(() => abort.abort());
  return sent;
}

interface Booked {
  readonly of: string;
  readonly amount: number;
  readonly origin: string;
}

async function committedOf(run: string): Promise<Booked[]> {
  return (await world.journal.read({ run }))
    .filter(({ kind }) => kind === "committed")
    .map(({ key, content, operation }) => ({
      of: key,
      amount: (content as { amountMinor: number }).amountMinor,
      origin: operation === "manual" ? "manual" : "client",
    }));
}

/**
 * Journal and books as they were at one moment. A request whose client has gone may still be on its way into the
 * world, where nothing can say so; when it was committed between the two readings, they are read again.
 */
async function compared(run: string): Promise<{ committed: Booked[]; state: Booked[] }> {
  for (;;) {
    const before = await committedOf(run);
    const { rows: state } = await world.owner.query<Booked>(
      `select invoice_key as of, amount_minor::integer as amount, origin from postings
       where starts_with(invoice_key, $1) order by entry_number`,
      [run],
    );
    const committed = await committedOf(run);
    if (committed.length === before.length) return { committed, state };
  }
}

test("for random requests, clients that go away, faults and repairs", async () => {
  const committedTotals: number[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const run = world.newRun();
      await play(run, steps);
      await untilSettled(world.journal, run, { timeoutMs: 15_000 });
      const { committed, state } = await compared(run);
      expect(committed).toEqual(state);
      committedTotals.push(committed.length);
    }),
    { numRuns: 60 },
  );
  // Sequences in which nothing was ever committed would prove nothing.
  expect(Math.max(...committedTotals)).toBeGreaterThan(2);
});
