/**
 * What an operations journal must do, whatever keeps it. Runs against the ledger and against the model in memory; each
 * line of the transition table is tried in every state, so a change that the table doesn't list can't happen in either.
 */
import { beforeAll, describe, expect, test } from "vitest";

import type { Fingerprint } from "../../../activities/operation/fingerprint.js";
import type { OperationJournal, OperationSnapshot } from "../../../activities/operation/journal.js";
import { providerKeyOf } from "../../../activities/operation/keys.js";
import {
  operationStates,
  statesBefore,
  transitions,
  type OperationState,
  type Verb,
} from "../../../activities/operation/states.js";

export interface JournalUnderTest {
  readonly journal: OperationJournal;
  eventsOf(
    key: string,
  ): Promise<readonly { readonly verb: string; readonly state: string; readonly epoch: number }[]>;
  openQuestions(key: string): Promise<readonly { readonly id: number; readonly reason: string }[]>;
  setGeneration(ownerId: string, generation: number, state: "provisioning" | "fenced"): Promise<void>;
}

const who = { attempt: 1, worker: "contract" };
const fingerprint: Fingerprint = { version: 1, digest: "a".repeat(64) };
const otherFingerprint: Fingerprint = { version: 1, digest: "b".repeat(64) };
const receipt = { id: "r-1", amountMinor: 100 };
const otherReceipt = { id: "r-2", amountMinor: 100 };
const url = "https://provider.example/operations/1";

let lastKey = 0;
const newKey = () => `contract:item-${process.pid}-${(lastKey += 1)}:post`;

export function journalContract(make: () => Promise<JournalUnderTest>): void {
  let journal: OperationJournal;
  let under: JournalUnderTest;

  beforeAll(async () => {
    under = await make();
    journal = under.journal;
  });

  const intend = (key: string, more = {}) =>
    journal.intend({
      ...who,
      key,
      provider: "p",
      fingerprint,
      repair: 0,
      owner: null,
      andSubmit: false,
      ...more,
    });
  const at = async (key: string) => (await journal.read(key))!;
  const claim = (operation: Pick<OperationSnapshot, "key" | "epoch">) => ({
    ...who,
    key: operation.key,
    epoch: operation.epoch,
  });

  /** Brings a new operation to a state, by the verbs alone. */
  async function bringTo(state: OperationState): Promise<OperationSnapshot> {
    const key = newKey();
    const { operation } = await intend(key);
    if (state !== "intended") {
      await journal.submit({ ...claim(operation), owner: null });
    }
    const holder = claim(operation);
    if (state === "accepted" || state === "failed-at-provider") {
      await journal.accept({ ...holder, tryNumber: 1, operationUrl: url, pollAfterMs: 10 });
    }
    const last: Partial<Record<OperationState, () => Promise<unknown>>> = {
      unknown: () => journal.markUnknown({ ...holder, cause: "test" }),
      refused: () => journal.refuse({ ...holder, code: "no", detail: "no" }),
      parked: () => journal.park({ ...holder, reason: "cannot-be-asked", evidence: {} }),
      confirmed: () => journal.confirm({ ...holder, tryNumber: 1, receipt, outcome: "done" }),
      "failed-at-provider": () =>
        journal.failAtProvider({ ...who, key, operationUrl: url, code: "no", detail: "no" }),
    };
    await last[state]?.();
    const reached = await at(key);
    expect(reached.state, "the test's own preparation").toBe(state);
    return reached;
  }

  /** Makes a verb's change as the current entrant would. */
  const apply: Record<
    Exclude<Verb, "intend">,
    (on: OperationSnapshot) => Promise<{ readonly result: string }>
  > = {
    takeOver: (on) => journal.takeOver({ ...who, key: on.key, seen: on }),
    submit: (on) => journal.submit({ ...claim(on), owner: null }),
    confirm: (on) => journal.confirm({ ...claim(on), tryNumber: on.try.number, receipt, outcome: "done" }),
    accept: (on) =>
      journal.accept({ ...claim(on), tryNumber: on.try.number, operationUrl: `${url}0`, pollAfterMs: 10 }),
    failAtProvider: (on) =>
      journal.failAtProvider({ ...who, key: on.key, operationUrl: url, code: "x", detail: "x" }),
    markUnknown: (on) => journal.markUnknown({ ...claim(on), cause: "x" }),
    refuse: (on) => journal.refuse({ ...claim(on), code: "x", detail: "x" }),
    park: (on) => journal.park({ ...claim(on), reason: "cannot-be-asked", evidence: { said: "x" } }),
    nextTry: (on) =>
      journal.nextTry({
        ...claim(on),
        endedTry: on.try.number,
        fingerprint,
        repair: 1,
        openedFor: "repair",
        why: "x",
      }),
    answer: async (on) => {
      const question = (await under.openQuestions(on.key))[0];
      return journal.answer({
        recoveryId: question?.id ?? 0,
        answerId: `answer-${on.key}`,
        by: "somebody",
        answer: { answer: "absent" },
      });
    },
  };

  /** States in which a verb finds that its change is made already, so that it says so and writes nothing. */
  const madeAlready: Partial<Record<Verb, OperationState>> = {
    markUnknown: "unknown",
    refuse: "refused",
    park: "parked",
    confirm: "confirmed",
    failAtProvider: "failed-at-provider",
  };

  describe.each(Object.keys(apply) as (keyof typeof apply)[])("%s", (verb) => {
    test.each(operationStates)("from %s: as the transition table says", async (state) => {
      // A first try that was never sent can't be ended: the one state whose guard is more than the state.
      const before = await bringTo(state);
      const allowed =
        statesBefore(verb).includes(state) &&
        madeAlready[verb] !== state &&
        !(verb === "nextTry" && state === "intended");
      const eventsBefore = (await under.eventsOf(before.key)).length;
      const { result } = await apply[verb](before);
      const after = await at(before.key);
      const wrote = (await under.eventsOf(before.key)).length - eventsBefore;
      expect(wrote, `${verb} from ${state} gave ${result}`).toBe(allowed ? 1 : 0);
      const to: readonly string[] = transitions[verb].to;
      expect(allowed && !to.includes("same") ? to : [state]).toContain(after.state);
      const unchanged = { ...before, now: after.now };
      expect(allowed ? unchanged : after, "nothing changes where nothing is allowed").toEqual(unchanged);
      const nothingDone = madeAlready[verb] === state ? state : verb === "answer" ? "not-parked" : "stale";
      expect(allowed ? nothingDone : result).toBe(nothingDone);
    });

    test.runIf(transitions[verb].author === "current")("is stale for an old epoch", async () => {
      const before = await bringTo(statesBefore(verb)[0]!);
      await journal.takeOver({ ...who, key: before.key, seen: before });
      const taken = await at(before.key);
      expect((await apply[verb](before)).result).toBe("stale");
      expect({ ...(await at(before.key)), now: 0 }).toEqual({ ...taken, now: 0 });
    });
  });

  test("of entrants that read the same epoch, one takes over", async () => {
    const before = await bringTo("unknown");
    const results = await Promise.all(
      Array.from({ length: 8 }, () => journal.takeOver({ ...who, key: before.key, seen: before })),
    );
    expect(results.filter(({ result }) => result === "taken")).toHaveLength(1);
    expect((await at(before.key)).epoch).toBe(before.epoch + 1);
  });

  test("who read it before its holder sent can't take over on what it read", async () => {
    const intended = await bringTo("intended");
    await journal.submit({ ...claim(intended), owner: null });
    expect((await journal.takeOver({ ...who, key: intended.key, seen: intended })).result).toBe("stale");
    const submitting = await at(intended.key);
    await journal.takeOver({ ...who, key: intended.key, seen: submitting });
    const taken = await at(intended.key);
    await journal.submit({ ...claim(taken), owner: null });
    expect((await journal.takeOver({ ...who, key: intended.key, seen: taken })).result).toBe("stale");
  });

  test("of entrants that come at once, one is the first, and all read the same try", async () => {
    const key = newKey();
    const results = await Promise.all(Array.from({ length: 8 }, () => intend(key)));
    expect(results.filter(({ fresh }) => fresh)).toHaveLength(1);
    expect(new Set(results.map(({ operation }) => operation.try.providerKey))).toEqual(new Set([key]));
  });

  test("intended and submitted at once, it is as if both had been done", async () => {
    const { fresh, operation } = await intend(newKey(), { andSubmit: true });
    expect(fresh).toBe(true);
    expect(operation).toMatchObject({
      state: "submitting",
      epoch: 1,
      submitted: { epoch: 1, at: operation.uncertainSince },
      try: { number: 1, firstSubmittedAt: operation.uncertainSince },
    });
    expect(await at(operation.key)).toEqual({ ...operation, now: expect.any(Number) as number });
    expect(await intend(operation.key, { andSubmit: true })).toMatchObject({ fresh: false });
  });

  test("another request under the key changes nothing", async () => {
    const before = await bringTo("unknown");
    const { fresh, operation } = await intend(before.key, { fingerprint: otherFingerprint, repair: 3 });
    expect(fresh).toBe(false);
    expect(operation.try).toEqual(before.try);
  });

  test("a receipt from an old epoch is kept; a guess from one is not", async () => {
    const zombie = await bringTo("submitting");
    await journal.takeOver({ ...who, key: zombie.key, seen: zombie });
    expect((await apply.markUnknown(zombie)).result).toBe("stale");
    expect((await apply.refuse(zombie)).result).toBe("stale");
    expect((await apply.confirm(zombie)).result).toBe("confirmed");
    const events = await under.eventsOf(zombie.key);
    expect(events.at(-1)).toMatchObject({ verb: "confirm", state: "confirmed", epoch: zombie.epoch });
  });

  test("another receipt than the stored one parks it with both", async () => {
    const before = await bringTo("confirmed");
    const result = await journal.confirm({
      ...claim(before),
      tryNumber: 1,
      receipt: otherReceipt,
      outcome: "done",
    });
    expect(result).toMatchObject({ result: "parked", operation: { parkedFor: "other-receipt", receipt } });
    expect(await under.openQuestions(before.key)).toMatchObject([{ reason: "other-receipt" }]);
    expect(await apply.confirm(before), "the first receipt again answers nothing").toMatchObject({
      result: "parked",
    });
  });

  test("the same receipt with its fields in another order is the same", async () => {
    const before = await bringTo("confirmed");
    const { result } = await journal.confirm({
      ...claim(before),
      tryNumber: 1,
      receipt: { amountMinor: 100, id: "r-1" },
      outcome: "done",
    });
    expect(result).toBe("confirmed");
    expect((await under.eventsOf(before.key)).filter(({ verb }) => verb === "confirm")).toHaveLength(1);
  });

  test("a receipt answers a question that only asked whether it happened", async () => {
    const parked = await bringTo("parked");
    expect((await apply.confirm(parked)).result).toBe("confirmed");
    expect(await under.openQuestions(parked.key)).toEqual([]);
  });

  test("a receipt doesn't answer a contradiction, but is kept", async () => {
    const before = await bringTo("submitting");
    await journal.park({
      ...claim(before),
      reason: "other-effect-present",
      evidence: { present: otherReceipt },
    });
    expect(await apply.confirm(before)).toMatchObject({
      result: "parked",
      operation: { parkedFor: "other-effect-present", receipt },
    });
    expect(await under.openQuestions(before.key)).toHaveLength(1);
  });

  describe("a receipt of an earlier try", () => {
    const laterTry = async (more: { readonly fingerprint: Fingerprint; readonly sent: boolean }) => {
      const refused = await bringTo("refused");
      await journal.nextTry({
        ...claim(refused),
        endedTry: 1,
        fingerprint: more.fingerprint,
        repair: 1,
        openedFor: "repair",
        why: "test",
      });
      if (more.sent) {
        await journal.submit({ ...claim(refused), owner: null });
      }
      return journal.confirm({ ...claim(refused), tryNumber: 1, receipt, outcome: "done" });
    };
    test("is the receipt, while the later one asks for the same and was never sent", async () => {
      expect((await laterTry({ fingerprint, sent: false })).result).toBe("confirmed");
    });
    test("parks it once the later one may have been sent", async () => {
      expect((await laterTry({ fingerprint, sent: true })).result).toBe("parked");
    });
    test("parks it when the later one asks for something else", async () => {
      expect((await laterTry({ fingerprint: otherFingerprint, sent: false })).result).toBe("parked");
    });
  });

  describe("the next try", () => {
    test("has its own provider key, stored before it can be sent", async () => {
      const refused = await bringTo("refused");
      const next = await apply.nextTry(refused);
      expect(next).toMatchObject({
        result: "intended",
        operation: {
          submitted: null,
          refusal: null,
          try: { number: 2, providerKey: providerKeyOf(refused.key, 2) },
        },
      });
      expect(providerKeyOf(refused.key, 2)).toBe(`${refused.key}/try-2`);
    });
    test.each(["submitting", "unknown"] as const)("from %s carries no other content", async (state) => {
      const before = await bringTo(state);
      const next = {
        ...claim(before),
        endedTry: 1,
        repair: 0,
        openedFor: "proved-absent",
        why: "x",
      } as const;
      expect((await journal.nextTry({ ...next, fingerprint: otherFingerprint })).result).toBe("stale");
      expect((await journal.nextTry({ ...next, fingerprint })).result).toBe("intended");
    });
    test("after a refusal may carry other content", async () => {
      const before = await bringTo("refused");
      const next = await journal.nextTry({
        ...claim(before),
        endedTry: 1,
        fingerprint: otherFingerprint,
        repair: 1,
        openedFor: "repair",
        why: "corrected",
      });
      expect(next).toMatchObject({ operation: { try: { fingerprint: otherFingerprint, repair: 1 } } });
    });
    test("is opened once, also when its answer was lost", async () => {
      const before = await bringTo("refused");
      await apply.nextTry(before);
      expect((await apply.nextTry(before)).result).toBe("intended");
      expect((await at(before.key)).try.number).toBe(2);
    });
  });

  describe("an owner's generation", () => {
    const owned = async (owner: { readonly id: string; readonly generation: number }) => {
      const key = newKey();
      const { operation } = await intend(key, { owner });
      return journal.submit({ ...claim(operation), owner });
    };
    test.each([
      ["the current one", 1, "provisioning", 1, "submitting"],
      ["an older one", 2, "provisioning", 1, "fenced"],
      ["a newer one than there is", 1, "provisioning", 2, "fenced"],
      ["a fenced one", 1, "fenced", 1, "fenced"],
    ] as const)("lets a submission of %s be %s/%s/%s → %s", async (_, current, state, given, result) => {
      const id = newKey();
      await under.setGeneration(id, current, state);
      expect((await owned({ id, generation: given })).result).toBe(result);
    });
    test.each([
      ["provisioning", 1, "submitting"],
      ["provisioning", 2, "intended"],
      ["fenced", 1, "intended"],
    ] as const)(
      "guards the submission made with the intent: %s, asked for %s → %s",
      async (state, given, then) => {
        const id = newKey();
        await under.setGeneration(id, 1, state);
        const owner = { id, generation: given };
        expect((await intend(newKey(), { owner, andSubmit: true })).operation.state).toBe(then);
      },
    );
    test("that doesn't exist lets nothing through", async () => {
      expect((await owned({ id: newKey(), generation: 1 })).result).toBe("fenced");
    });
  });

  describe("an answer", () => {
    const question = async () => {
      const parked = await bringTo("parked");
      return { parked, id: (await under.openQuestions(parked.key))[0]!.id };
    };
    test("adopt confirms with the given receipt", async () => {
      const { parked, id } = await question();
      const given = {
        recoveryId: id,
        answerId: "a",
        by: "ann",
        answer: { answer: "adopt", receipt },
      } as const;
      expect(await journal.answer(given)).toEqual({
        result: "answered",
        key: parked.key,
        state: "confirmed",
      });
      expect(await at(parked.key)).toMatchObject({ receipt, epoch: parked.epoch + 1 });
    });
    test("absent opens the next try with the same content", async () => {
      const { parked, id } = await question();
      await journal.answer({ recoveryId: id, answerId: "a", by: "ann", answer: { answer: "absent" } });
      expect(await at(parked.key)).toMatchObject({
        state: "intended",
        try: { number: 2, providerKey: `${parked.key}/try-2`, openedFor: "answer", fingerprint },
      });
      expect((await apply.nextTry(await at(parked.key))).result, "and a repair may follow").toBe("intended");
    });
    test("redrive asks again by the same rules, and counts the time anew", async () => {
      const { parked, id } = await question();
      await journal.answer({ recoveryId: id, answerId: "a", by: "ann", answer: { answer: "redrive" } });
      const after = await at(parked.key);
      expect(after).toMatchObject({ state: "unknown", try: parked.try, submitted: parked.submitted });
      expect(after.uncertainSince).toBeGreaterThanOrEqual(parked.uncertainSince!);
    });
    test("redrive isn't possible where it would send a repaired try beside an earlier one's effect", async () => {
      const { parked, id } = await question();
      const by = { answerId: "a", by: "ann" };
      await journal.answer({ ...by, recoveryId: id, answer: { answer: "absent" } });
      await journal.nextTry({
        ...claim(await at(parked.key)),
        endedTry: 2,
        fingerprint: otherFingerprint,
        repair: 1,
        openedFor: "repair",
        why: "corrected",
      });
      // The first try had an effect after all, and its receipt comes late.
      const late = await journal.confirm({ ...claim(parked), tryNumber: 1, receipt, outcome: "done" });
      expect(late.result).toBe("parked");
      const before = await at(parked.key);
      const open = (await under.openQuestions(parked.key))[0]!.id;
      const redrive = { answerId: "b", by: "ann", recoveryId: open, answer: { answer: "redrive" } } as const;
      expect(await journal.answer(redrive)).toMatchObject({
        result: "not-possible",
        why: expect.stringContaining("a second effect"),
      });
      expect({ ...(await at(parked.key)), now: 0 }).toEqual({ ...before, now: 0 });
      expect(await journal.answer({ ...redrive, answer: { answer: "adopt", receipt } })).toMatchObject({
        result: "answered",
        state: "confirmed",
      });
    });
    test("of two different ones counts once, and the other learns whose did", async () => {
      const { parked, id } = await question();
      const given = (by: string) =>
        ({ recoveryId: id, answerId: `by-${by}`, by, answer: { answer: "absent" } }) as const;
      const results = await Promise.all([journal.answer(given("ann")), journal.answer(given("ben"))]);
      expect(results.map(({ result }) => result).sort()).toEqual(["answered", "answered-before"]);
      expect((await at(parked.key)).try.number).toBe(2);
    });
    test("sent twice gives the same result and changes nothing more", async () => {
      const { parked, id } = await question();
      const given = { recoveryId: id, answerId: "a", by: "ann", answer: { answer: "absent" } } as const;
      const first = await journal.answer(given);
      expect(await journal.answer(given)).toEqual(first);
      expect((await at(parked.key)).try.number).toBe(2);
      expect(await journal.answer({ ...given, answer: { answer: "redrive" } })).toMatchObject({
        result: "answered-before",
        by: "ann",
      });
    });
    test("leaves no room for a guess from before", async () => {
      const { parked, id } = await question();
      await journal.answer({ recoveryId: id, answerId: "a", by: "ann", answer: { answer: "redrive" } });
      expect((await apply.submit(parked)).result).toBe("stale");
    });
  });
}
