import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Claim, Entrant, Owner, Receipt } from "../../../activities/operation/journal.js";
import type { MemoryJournal } from "../../support/operation/memory-journal.js";
import {
  BrokenInvariant,
  Interleaving,
  providerClasses,
  type ProviderClass,
  type Weakening,
} from "../../support/operation/interleaving.js";

/** Together 10,000 schedules, in a few seconds. */
const schedulesOfEachClass = 2_500;
/** Each number decides one thing; sixty are enough for a zombie, two successors and a crash. */
const choices = fc.array(fc.nat({ max: 9_999 }), { minLength: 10, maxLength: 60, size: "max" });
const classes = Object.keys(providerClasses) as ProviderClass[];

/** Repeat one with `SEED=… npx vitest run --project unit test/activities/operation/interleaving.test.ts`. */
const seed = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"]);

const schedules = (providerClass: ProviderClass, weakening?: Weakening) =>
  fc.asyncProperty(choices, (list) => new Interleaving(providerClass, list, weakening).run());

describe("however entrants interleave, crash and come back", () => {
  test.each(classes)("%s: one effect at most, and an end", { timeout: 60_000 }, async (providerClass) => {
    const details = await fc.check(schedules(providerClass), {
      numRuns: schedulesOfEachClass,
      ...(seed === undefined ? {} : { seed }),
    });
    expect(
      details.errorInstance,
      `seed ${details.seed}, ${JSON.stringify(details.counterexample)}`,
    ).toBeNull();
    expect(details.numRuns).toBe(schedulesOfEachClass);
  });
});

/** Each guard taken out, and how the operation then goes wrong. */
const weakenings: Record<string, { readonly inClass: ProviderClass; readonly as: RegExp } & Weakening> = {
  "take-over without raising the epoch": {
    inClass: "no keys, can be asked",
    as: /[2-9] effects/,
    verb: (store) => async (verb, argument, call) =>
      verb === "takeOver"
        ? { result: "taken", operation: await store.read((argument as Entrant & { key: string }).key) }
        : call(),
  },
  "the guess of an old epoch counts": {
    inClass: "keys for ever",
    as: /a guess of an old epoch was stored|refused, and the effect is there/,
    verb: (store) => async (verb, argument, call) =>
      verb === "refuse" || verb === "markUnknown" ? guessAnyway(store, verb, argument) : call(),
  },
  "the receipt of an old epoch is dropped": {
    inClass: "keys for ever",
    as: /a receipt that isn't stored/,
    verb: (store) => async (verb, argument, call) => {
      const receipt = argument as Receipt;
      const operation = verb === "confirm" ? await store.read(receipt.key) : null;
      return operation !== null && operation.epoch !== receipt.epoch
        ? { result: "confirmed", operation: { ...operation, receipt: receipt.receipt, outcome: "done" } }
        : call();
    },
  },
  "absent is believed before it has settled": {
    inClass: "no keys, can be asked",
    as: /[2-9] effects/,
    provider: (provider) => ({ ...provider, policy: { ...provider.policy, settleMs: 0 } }),
  },
  "sent without being written down before": {
    inClass: "neither keys nor asking",
    as: /not written down before|[2-9] effects/,
    verb: (store) => async (verb, argument, call) => {
      if (verb !== "submit") {
        return call();
      }
      const claim = argument as Claim & { owner: Owner | null };
      const operation = (await store.read(claim.key))!;
      return {
        result: "submitting",
        operation: {
          ...operation,
          submitted: { at: operation.now, epoch: claim.epoch },
          try: { ...operation.try, firstSubmittedAt: operation.now },
        },
      };
    },
  },
  "a new provider key for each send": {
    inClass: "keys for ever",
    as: /[2-9] effects/,
    provider: (provider) => {
      let sends = 0;
      return {
        ...provider,
        send: (request, context) =>
          provider.send(request, { ...context, providerKey: `${context.providerKey}/${(sends += 1)}` }),
      };
    },
  },
};

/** Writes as if it held the epoch, under its own name. */
async function guessAnyway(store: MemoryJournal, verb: "refuse" | "markUnknown", argument: unknown) {
  const guess = argument as Parameters<MemoryJournal["refuse"]>[0] &
    Parameters<MemoryJournal["markUnknown"]>[0];
  const held = { ...guess, epoch: (await store.read(guess.key))!.epoch };
  const eventsBefore = store.events.length;
  const result = await (verb === "refuse" ? store.refuse(held) : store.markUnknown(held));
  store.events.push(...store.events.splice(eventsBefore).map((event) => ({ ...event, epoch: guess.epoch })));
  return result;
}

describe("the schedules would notice a missing guard", () => {
  test.each(Object.entries(weakenings))("%s", { timeout: 60_000 }, async (name, weakening) => {
    const details = await fc.check(schedules(weakening.inClass, weakening), {
      numRuns: 10_000,
      endOnFailure: true, // caught is enough; the shortest schedule would take longer than the search
      ...(seed === undefined ? {} : { seed }),
    });
    expect(details.failed, `${name} survived; seed ${details.seed}`).toBe(true);
    expect(details.errorInstance).toBeInstanceOf(BrokenInvariant);
    expect((details.errorInstance as BrokenInvariant).message).toMatch(weakening.as);
    process.stdout.write(
      `${name}: caught after ${details.numRuns} schedules with seed ${details.seed}: ${(details.errorInstance as Error).message}\n`,
    );
  });
});
