import { beforeEach, describe, expect, test } from "vitest";

import { ApplicationFailure } from "@temporalio/common";

import { asApplicationFailure } from "../../../activities/operation/as-application-failure.js";
import type { PerformContext } from "../../../activities/operation/context.js";
import { OperationConflict, OutcomeUnknown } from "../../../activities/operation/errors.js";
import { finishAccepted } from "../../../activities/operation/finish-accepted.js";
import { perform } from "../../../activities/operation/perform.js";
import type { OperationJournal, Owner } from "../../../activities/operation/journal.js";
import { anotherProcess } from "../../support/operation/another-process.js";
import { MemoryJournal } from "../../support/operation/memory-journal.js";
import { payment, paymentProjection, virtualContext } from "../../support/operation/payment-call.js";
import {
  ProviderModel,
  VirtualClock,
  type Payment,
  type ProviderKnobs,
} from "../../support/operation/provider-model.js";

const key = "payment:order-1:capture";
const withKeys: ProviderKnobs = {
  honoursKeys: true,
  keysLiveForMs: null,
  canFind: true,
  settleMs: 1_000,
  parkAfterMs: 60_000,
};
const withoutKeys: ProviderKnobs = { ...withKeys, honoursKeys: false };
const neither: ProviderKnobs = { ...withoutKeys, canFind: false };
const expiring: ProviderKnobs = { ...withKeys, keysLiveForMs: 20_000 };
const dropped = { answerDropped: true } as const;

let clock: VirtualClock;
let store: MemoryJournal;

beforeEach(() => {
  clock = new VirtualClock();
  store = new MemoryJournal(clock.now);
});

interface Asked {
  readonly request?: Payment;
  readonly journal?: OperationJournal;
  readonly repair?: number;
  readonly owner?: Owner;
  readonly context?: Partial<PerformContext>;
}

const run = (provider: ProviderModel, asked: Asked = {}) =>
  perform(
    {
      journal: asked.journal ?? store,
      provider,
      key,
      request: asked.request ?? payment("order-1"),
      projection: paymentProjection,
      ...(asked.repair === undefined ? {} : { repair: asked.repair }),
      ...(asked.owner === undefined ? {} : { owner: asked.owner }),
    },
    virtualContext(clock, asked.context),
  );

const state = async () => (await store.read(key))?.state;
const verbs = () => store.events.map(({ verb }) => verb);

describe("an undisturbed effect", () => {
  test("is written down before it is sent, and its receipt after", async () => {
    const provider = new ProviderModel(clock, withKeys);
    const performed = await run(provider);
    expect(performed).toEqual({
      outcome: "done",
      receipt: { id: "p-1", reference: "order-1", amountMinor: 12_000 },
    });
    expect(verbs()).toEqual(["intend", "confirm"]);
    expect(store.events[0]).toMatchObject({ verb: "intend", state: "submitting" });
    expect(provider.arrived).toEqual([{ providerKey: key, request: payment("order-1") }]);
  });

  test("of a provider without keys has a state that proves that nothing was sent", async () => {
    await run(new ProviderModel(clock, withoutKeys));
    expect(verbs()).toEqual(["intend", "submit", "confirm"]);
    expect(store.events.map(({ state }) => state)).toEqual(["intended", "submitting", "confirmed"]);
  });

  test("asked for again gives the stored receipt, and the provider isn't called", async () => {
    const provider = new ProviderModel(clock, withKeys);
    const first = await run(provider);
    expect(await run(provider, { journal: anotherProcess(store) })).toEqual(first);
    expect(provider.arrived).toHaveLength(1);
    expect(store.rows.get(key)?.epoch, "nobody took over to read").toBe(1);
  });

  test("that isn't needed any more is a result", async () => {
    const provider = new ProviderModel(clock, withKeys);
    const newer = { id: "p-9", reference: "order-1", amountMinor: 5 };
    provider.next({ answer: { outcome: "superseded", receipt: newer } });
    const superseded = { outcome: "superseded", receipt: newer };
    expect(await run(provider)).toEqual(superseded);
    expect(await run(provider)).toEqual(superseded);
  });
});

describe("one key has one meaning", () => {
  test("another amount is a conflict that names both fingerprints, and nothing is sent", async () => {
    const provider = new ProviderModel(clock, withKeys);
    await run(provider);
    const error = await run(provider, { request: payment("order-1", 1) }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OperationConflict);
    const { stored, given, message } = error as OperationConflict;
    expect(message).toContain(stored.digest);
    expect(message).toContain(given.digest);
    expect(stored.digest).not.toBe(given.digest);
    expect(provider.arrived).toHaveLength(1);
  });

  test("a note that a deploy adds is no conflict", async () => {
    const provider = new ProviderModel(clock, withKeys);
    const first = await run(provider);
    expect(await run(provider, { request: { ...payment("order-1"), note: "new" } })).toEqual(first);
  });

  test("a raised repair count changes nothing while nothing was refused", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next(dropped);
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    await expect(run(provider, { repair: 1, request: payment("order-1", 1) })).rejects.toThrow(
      OperationConflict,
    );
  });
});

describe("a definitive refusal", () => {
  const refusal = { outcome: "refused", code: "402", detail: "not capturable yet" } as const;

  test("is given again without a send, however often the call is repeated", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next({ answer: refusal });
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationRefused", refusal: { code: "402" } });
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationRefused" });
    expect(provider.arrived).toHaveLength(1);
  });

  test("then a repair: one new try under its own key, with corrected content", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next({ answer: refusal });
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationRefused" });
    const corrected = { repair: 1, request: payment("order-1", 11_900) };
    const performed = await run(provider, corrected);
    expect(performed).toMatchObject({ receipt: { amountMinor: 11_900 } });
    expect(provider.arrived.map(({ providerKey }) => providerKey)).toEqual([key, `${key}/try-2`]);
    expect(await run(provider, corrected)).toEqual(performed);
    await expect(run(provider), "the request before the repair").rejects.toThrow(OperationConflict);
    expect(provider.effectsEver).toHaveLength(1);
  });

  test("then a repair outside, with the same content: a new try all the same", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next({ answer: refusal });
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationRefused" });
    await run(provider, { repair: 1 });
    expect(provider.arrived.at(-1)?.providerKey).toBe(`${key}/try-2`);
  });
});

describe("a lost answer", () => {
  test("with keys: the same key again, one effect", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next(dropped);
    await expect(run(provider)).rejects.toMatchObject({ name: "OutcomeUnknown", retryAfterMs: undefined });
    await run(provider, { journal: anotherProcess(store) });
    expect(provider.arrived.map(({ providerKey }) => providerKey)).toEqual([key, key]);
    expect(provider.effects).toHaveLength(1);
  });

  test("without keys: asked about after settling, never sent twice", async () => {
    const provider = new ProviderModel(clock, withoutKeys);
    provider.next(dropped);
    await expect(run(provider)).rejects.toMatchObject({ retryAfterMs: 1_000 });
    clock.advance(1_000);
    expect(await run(provider, { journal: anotherProcess(store) })).toMatchObject({ receipt: { id: "p-1" } });
    expect(provider.arrived).toHaveLength(1);
  });

  test("without keys, committed late, the client gone early: one effect, one request", async () => {
    const provider = new ProviderModel(clock, withoutKeys);
    provider.next({ commitAfterMs: 900 });
    await run(provider, { context: { patienceMs: 5_000 } });
    expect(provider.arrived).toHaveLength(1);
    expect(provider.effects).toHaveLength(1);
  });

  test("without keys and never arrived: sent again by the process that knows that its call has ended", async () => {
    const provider = new ProviderModel(clock, withoutKeys);
    provider.next({ lost: true });
    await run(provider, { context: { patienceMs: 5_000 } });
    expect(provider.effects).toHaveLength(1);
  });

  test("without keys and never arrived: parked by any other process", async () => {
    const provider = new ProviderModel(clock, withoutKeys);
    provider.next({ lost: true });
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    clock.advance(5_000);
    await expect(run(provider, { journal: anotherProcess(store) })).rejects.toMatchObject({
      name: "OperationParked",
      reason: "earlier-sender-not-proved-ended",
    });
    expect(store.questions).toMatchObject([{ key, answered: null }]);
    expect(provider.arrived).toHaveLength(0);
  });

  test("with neither keys nor a way to ask: parked", async () => {
    const provider = new ProviderModel(clock, neither);
    provider.next(dropped);
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationParked", reason: "cannot-be-asked" });
    expect(provider.arrived).toHaveLength(1);
  });

  test("with keys that may have expired: found, or a new try once it is proved absent", async () => {
    const present = new ProviderModel(clock, expiring);
    present.next(dropped);
    await expect(run(present)).rejects.toThrow(OutcomeUnknown);
    clock.advance(15_000);
    await run(present, { journal: anotherProcess(store) });
    expect(present.arrived).toHaveLength(1);

    store = new MemoryJournal(clock.now);
    const absent = new ProviderModel(clock, expiring);
    absent.next({ lost: true });
    await expect(run(absent)).rejects.toThrow(OutcomeUnknown);
    clock.advance(15_000);
    await run(absent, { journal: anotherProcess(store) });
    expect(absent.arrived.map(({ providerKey }) => providerKey)).toEqual([`${key}/try-2`]);
  });

  test("a find that lags isn't believed before settling", async () => {
    const provider = new ProviderModel(clock, { ...expiring, keysLiveForMs: 1, readLagMs: 900 });
    provider.next(dropped);
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    clock.advance(500);
    await expect(run(provider)).rejects.toMatchObject({ retryAfterMs: 500 });
    clock.advance(500);
    await run(provider);
    expect(provider.effectsEver).toHaveLength(1);
  });
});

describe("a sender that was held up between the record and the send", () => {
  /** The process stands still for so long after `submitting` was stored. */
  const heldUpFor = (ms: number) => {
    let once = true;
    return anotherProcess(store, async (verb, _argument, call) => {
      const result = await call();
      if (verb === "submit" && once) {
        once = false;
        clock.advance(ms);
      }
      return result;
    });
  };

  test("doesn't send what has been decided by others meanwhile: without keys it asks first", async () => {
    const provider = new ProviderModel(clock, withoutKeys);
    const journal = heldUpFor(10_000);
    await expect(run(provider, { journal })).rejects.toThrow("held up before the send");
    expect(provider.arrived).toEqual([]);
    clock.advance(1_000);
    await run(provider, { journal });
    expect(provider.effectsEver).toHaveLength(1);
  });

  test.each([
    ["keys for a day, can be asked", { ...withKeys, keysLiveForMs: 86_400_000 }],
    ["keys for a day, can't be asked", { ...withKeys, keysLiveForMs: 86_400_000, canFind: false }],
    ["keys that expire meanwhile", { ...withKeys, keysLiveForMs: 40_000 }],
    ["no keys, can be asked", withoutKeys],
    ["neither", neither],
  ])("time after time is a person's to look at in the end: %s", async (_, knobs) => {
    const provider = new ProviderModel(clock, { ...knobs, settleMs: 500 });
    let writes = 0;
    const journal = anotherProcess(store, async (verb, _argument, call) => {
      writes += 1;
      const result = await call();
      if (verb === "intend" || verb === "submit") clock.advance(120);
      return result;
    });
    let ended: unknown;
    for (let minute = 0; minute < 20 && store.questions.length === 0; minute += 1) {
      ended = await run(provider, { journal }).catch((error: unknown) => error);
      clock.advance(60_000);
    }
    expect(ended).toMatchObject({ name: "OperationParked" });
    expect(provider.arrived).toEqual([]);
    expect(writes).toBeLessThan(300);
  });

  test("sends all the same where the provider takes it for the same request for ever", async () => {
    const provider = new ProviderModel(clock, withKeys);
    await run(provider, { journal: heldUpFor(60_000) });
    expect(provider.arrived).toHaveLength(1);
  });
});

describe("the three meanings of 409", () => {
  const exists = { answer: { outcome: "exists", detail: "duplicate reference" } } as const;

  test("exists, with the same content: adopted", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.plant("order-1", 12_000);
    provider.next(exists);
    expect(await run(provider)).toMatchObject({ receipt: { id: "p-1" } });
    expect(provider.effectsEver).toHaveLength(1);
  });

  test("exists, with another amount: parked with what is there", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.plant("order-1", 999);
    provider.next(exists);
    await expect(run(provider)).rejects.toMatchObject({ reason: "other-effect-present" });
    expect(store.questions).toMatchObject([
      { evidence: { evidence: { present: { amountMinor: 999 } }, request: { amountMinor: 12_000 } } },
    ]);
  });

  test("exists, and can't be asked: parked", async () => {
    const provider = new ProviderModel(clock, neither);
    provider.next(exists);
    await expect(run(provider)).rejects.toMatchObject({ reason: "cannot-be-asked" });
  });

  test("exists, and asking doesn't show it yet: unknown", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next(exists);
    await expect(run(provider)).rejects.toThrow("asking gave absent");
  });

  test("in progress: waits, under the same key", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next({ commitAfterMs: 80 }, {});
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    await run(provider, { context: { patienceMs: 500 } });
    expect(new Set(provider.arrived.map(({ providerKey }) => providerKey))).toEqual(new Set([key]));
    expect(provider.effects).toHaveLength(1);
  });

  test("the key was used for another request: parked, nothing guessed", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next({ answer: { outcome: "conflict", detail: "other parameters" } });
    await expect(run(provider)).rejects.toMatchObject({ reason: "key-used-for-another-request" });
    await expect(run(provider)).rejects.toMatchObject({ reason: "key-used-for-another-request" });
    expect(provider.arrived).toHaveLength(1);
  });
});

describe("a provider that is out of order for a while", () => {
  test.each(["401 from a gateway", "503"])("%s: done once, without a person", async (cause) => {
    const provider = new ProviderModel(clock, withKeys);
    provider.down = { outcome: "unknown", cause };
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await expect(run(provider, { context: { attempt } })).rejects.toThrow(cause);
      clock.advance(10_000);
    }
    provider.down = undefined;
    await run(provider);
    expect(provider.effects).toHaveLength(1);
    expect(store.questions).toEqual([]);
  });

  test("longer than parkAfterMs: parked, and the answer redrive goes on under the same key", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.down = { outcome: "unknown", cause: "503" };
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    clock.advance(60_000);
    await expect(run(provider)).rejects.toMatchObject({ reason: "no-outcome-in-time" });
    provider.down = undefined;
    await store.answer({ recoveryId: 1, answerId: "a", by: "ann", answer: { answer: "redrive" } });
    await run(provider);
    expect(provider.arrived.map(({ providerKey }) => providerKey)).toEqual([key]);
  });

  test("when it is back after parkAfterMs, one more attempt comes before a person", async () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next({ lost: true });
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    clock.advance(600_000);
    await run(provider);
    expect(store.questions).toEqual([]);
  });

  test("and can't be asked: waits as told, then parks", async () => {
    const provider = new ProviderModel(clock, withoutKeys);
    provider.next(dropped);
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    provider.findDown = true;
    clock.advance(2_000);
    await expect(run(provider)).rejects.toThrow("the provider can't be asked");
    clock.advance(60_000);
    await expect(run(provider)).rejects.toMatchObject({ reason: "no-outcome-in-time" });
  });
});

describe("answers to a parked operation", () => {
  test("absent: the next try, under its own key", async () => {
    const provider = new ProviderModel(clock, neither);
    provider.next({ lost: true });
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationParked" });
    await store.answer({ recoveryId: 1, answerId: "a", by: "ann", answer: { answer: "absent" } });
    await run(provider);
    expect(provider.arrived.map(({ providerKey }) => providerKey)).toEqual([`${key}/try-2`]);
  });

  test("adopt: the given receipt, and no call", async () => {
    const provider = new ProviderModel(clock, neither);
    provider.next(dropped);
    await expect(run(provider)).rejects.toThrow(OutcomeUnknown);
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationParked" });
    const receipt = { id: "p-1", reference: "order-1", amountMinor: 12_000 };
    await store.answer({ recoveryId: 1, answerId: "a", by: "ann", answer: { answer: "adopt", receipt } });
    expect(await run(provider)).toEqual({ outcome: "done", receipt });
    expect(provider.arrived).toHaveLength(1);
  });
});

describe("a long-running operation", () => {
  const url = "https://cloud.example/operations/1";
  const accepting = () => {
    const provider = new ProviderModel(clock, withKeys);
    provider.next({ answer: { outcome: "accepted", operationUrl: url, pollAfterMs: 50 } });
    return provider;
  };
  const entrant = { attempt: 1, worker: "worker-2" };
  const receipt = { id: "p-1", reference: "order-1", amountMinor: 12_000 };

  test("gives where to ask, again and again without a call, until its end is stored", async () => {
    const provider = accepting();
    const accepted = { outcome: "accepted", operationUrl: url, pollAfterMs: 50 };
    expect(await run(provider)).toEqual(accepted);
    expect(await run(provider, { journal: anotherProcess(store) })).toEqual(accepted);
    expect(provider.arrived).toHaveLength(1);
    const done = { end: "done", receipt } as const;
    expect(await finishAccepted(store, key, url, done, entrant)).toEqual({ outcome: "done", receipt });
    expect(await finishAccepted(store, key, url, done, entrant)).toEqual({ outcome: "done", receipt });
    expect(await run(provider)).toEqual({ outcome: "done", receipt });
  });

  test("that failed at the provider says so from then on", async () => {
    const provider = accepting();
    await run(provider);
    const failed = { end: "failed", code: "quota", detail: "no more" } as const;
    await expect(finishAccepted(store, key, url, failed, entrant)).rejects.toMatchObject({
      name: "OperationFailedAtProvider",
    });
    await expect(run(provider)).rejects.toMatchObject({ name: "OperationFailedAtProvider" });
  });

  test("of another address changes nothing", async () => {
    await run(accepting());
    const failed = { end: "failed", code: "quota", detail: "no more" } as const;
    await expect(finishAccepted(store, key, `${url}2`, failed, entrant)).rejects.toThrow(
      "not a long-running",
    );
    expect(await state()).toBe("accepted");
  });
});

describe("an owner that was fenced", () => {
  const owner = { id: "tenant-1", generation: 1 };

  test("before anything was sent: nothing is", async () => {
    store.generations.set("tenant-1", { generation: 2, state: "provisioning" });
    const provider = new ProviderModel(clock, withKeys);
    await expect(run(provider, { owner })).rejects.toMatchObject({ name: "OperationFenced" });
    expect(provider.arrived).toEqual([]);
    expect(await state()).toBe("intended");
  });

  test("after an uncertain send: parked, so that a clean-up sees it", async () => {
    store.generations.set("tenant-1", { generation: 1, state: "provisioning" });
    const provider = new ProviderModel(clock, withKeys);
    provider.next(dropped);
    await expect(run(provider, { owner })).rejects.toThrow(OutcomeUnknown);
    store.generations.set("tenant-1", { generation: 1, state: "fenced" });
    await expect(run(provider, { owner })).rejects.toMatchObject({ reason: "owner-fenced" });
  });
});

describe("cancellation", () => {
  const cancelled = new Error("cancelled");

  test("before the send: stops, and nothing is sent", async () => {
    const provider = new ProviderModel(clock, withKeys);
    const controller = new AbortController();
    controller.abort(cancelled);
    await expect(run(provider, { context: { signal: controller.signal } })).rejects.toBe(cancelled);
    expect(provider.arrived).toEqual([]);
  });

  test("between the intent and the send: stops at `intended`", async () => {
    const controller = new AbortController();
    const provider = new ProviderModel(clock, withoutKeys);
    const journal = anotherProcess(store, async (verb, _argument, call) => {
      const result = await call();
      if (verb === "intend") {
        controller.abort(cancelled);
      }
      return result;
    });
    await expect(run(provider, { journal, context: { signal: controller.signal } })).rejects.toBe(cancelled);
    expect(await state()).toBe("intended");
  });

  test("while it is sent: finishes, records and gives the true result", async () => {
    const controller = new AbortController();
    const provider = new ProviderModel(clock, withKeys);
    const send = provider.send.bind(provider);
    let inSend: AbortSignal | undefined;
    provider.send = async (request, context) => {
      inSend = context.signal;
      controller.abort(cancelled);
      const stillOpen = !context.signal.aborted;
      const answer = await send(request, context);
      expect(stillOpen, "the call's own signal").toBe(true);
      return answer;
    };
    const context = { signal: controller.signal, sleep: () => new Promise<void>(() => undefined) };
    expect(await run(provider, { context })).toMatchObject({ outcome: "done" });
    expect(inSend?.aborted).toBe(false);
    expect(await state()).toBe("confirmed");
  });

  test("and no answer within the grace: unknown is recorded; a receipt that comes later is stored", async () => {
    const controller = new AbortController();
    const provider = new ProviderModel(clock, withKeys);
    const send = provider.send.bind(provider);
    let letThrough = (): void => undefined;
    provider.send = async (request, context) => {
      controller.abort(cancelled);
      await new Promise<void>((resolve) => (letThrough = resolve));
      return send(request, context);
    };
    await expect(run(provider, { context: { signal: controller.signal, graceMs: 100 } })).rejects.toThrow(
      "not answered within the grace",
    );
    expect(await state()).toBe("unknown");
    const confirmed = new Promise<void>((resolve) => {
      const confirm = store.confirm.bind(store);
      store.confirm = async (receipt) => {
        const result = await confirm(receipt);
        resolve();
        return result;
      };
    });
    letThrough();
    await confirmed;
    expect(await state()).toBe("confirmed");
  });
});

describe("bad input is refused before anything is done", () => {
  test("a key that isn't one", async () => {
    const call = {
      journal: store,
      provider: new ProviderModel(clock, withKeys),
      key: "k",
      request: payment("a"),
    };
    await expect(
      perform({ ...call, projection: paymentProjection }, virtualContext(clock)),
    ).rejects.toMatchObject({ name: "InvalidOperationKey" });
  });
  test.each([
    ["settleMs", { settleMs: -1 }],
    ["settleMs", { settleMs: Number.NaN }],
    ["parkAfterMs", { parkAfterMs: 1_000 }],
    ["keysLiveForMs", { keysLiveForMs: 0 }],
  ])("a policy whose %s contradicts itself", async (field, wrong) => {
    const provider = new ProviderModel(clock, { ...withKeys, ...wrong });
    await expect(run(provider)).rejects.toThrow(`policy.${field} is`);
    expect(store.events).toEqual([]);
  });
});

describe("as a Temporal failure", () => {
  test.each([
    [
      new OutcomeUnknown(key, "timed out", 700),
      { type: "OutcomeUnknown", nonRetryable: false, nextRetryDelay: 700 },
    ],
    [new OutcomeUnknown(key, "timed out", undefined), { nonRetryable: false, nextRetryDelay: undefined }],
    [
      new OperationConflict(key, { version: 1, digest: "a" }, { version: 1, digest: "b" }),
      { type: "OperationConflict", nonRetryable: true },
    ],
  ])("%s", (error, expected) => {
    const failure = asApplicationFailure(error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject(expected);
  });
  test("anything else stays what it is", () => {
    const other = new Error("x");
    expect(asApplicationFailure(other)).toBe(other);
  });
});
