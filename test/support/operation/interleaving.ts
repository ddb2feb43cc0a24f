/**
 * Several entrants of one operation, in several processes, one step at a time in an order that a list of numbers
 * decides: every await of `perform` that touches the outside is held before it has its effect and again before its
 * answer is seen. Processes crash with everything that is held in them, entrants are held as long as the list likes
 * (zombies), time passes, requests are lost, committed late, refused, and answers are dropped.
 *
 * Then comes a quiet phase: everything held goes on, a fresh process asks until there is an end, and an honest person
 * answers what is parked.
 */
import type { EffectProvider } from "../../../activities/operation/provider.js";
import { perform } from "../../../activities/operation/perform.js";
import type { OperationJournal } from "../../../activities/operation/journal.js";
import { anotherProcess, type AroundVerb } from "./another-process.js";
import { MemoryJournal } from "./memory-journal.js";
import { payment, paymentProjection } from "./payment-call.js";
import {
  ProviderModel,
  VirtualClock,
  type Payment,
  type PaymentReceipt,
  type ProviderKnobs,
  type SendFate,
} from "./provider-model.js";

const key = "payment:order-1:capture";
const settleMs = 1_000;
/** Latest commit after a request arrived; with the read lag, just within `settleMs`. */
const commitLatestMs = 700;
const readLagMs = 200;

const policy = { keysLiveForMs: null, settleMs, parkAfterMs: 60_000, readLagMs };
export const providerClasses = {
  "keys for ever": { ...policy, honoursKeys: true, canFind: false },
  "keys that expire, can be asked": { ...policy, honoursKeys: true, canFind: true, keysLiveForMs: 20_000 },
  "no keys, can be asked": { ...policy, honoursKeys: false, canFind: true },
  "neither keys nor asking": { ...policy, honoursKeys: false, canFind: false },
} as const satisfies Record<string, ProviderKnobs>;

export type ProviderClass = keyof typeof providerClasses;

/** A guard taken out: what stands around the journal or the provider in its place. */
export interface Weakening {
  readonly verb?: (store: MemoryJournal) => AroundVerb;
  readonly provider?: (provider: Payments) => Payments;
}

interface Held {
  readonly processId: number;
  readonly what: string;
  /** For a wait: when it ends. */
  readonly dueAt: number | undefined;
  readonly letGo: () => void;
}

type Payments = EffectProvider<Payment, PaymentReceipt>;

export class BrokenInvariant extends Error {
  override readonly name = "BrokenInvariant";
}

const processesMax = 3;
const entrantsAtOnceMax = 4;
const stepsOfQuietPhaseMax = 2_000;

export class Interleaving {
  readonly clock = new VirtualClock();
  readonly store = new MemoryJournal(this.clock.now);
  readonly provider: ProviderModel;
  readonly #class: ProviderClass;
  readonly #weakening: Weakening;
  readonly #choices: number[];
  readonly #journals = new Map<number, OperationJournal>();
  #held: Held[] = [];
  #running = 0;
  #nextProcess = processesMax;
  readonly #processes = Array.from({ length: processesMax }, (_, index) => index);
  #quiet = false;

  constructor(providerClass: ProviderClass, choices: readonly number[], weakening: Weakening = {}) {
    this.#class = providerClass;
    this.#weakening = weakening;
    this.#choices = [...choices];
    this.provider = new ProviderModel(this.clock, providerClasses[providerClass]);
  }

  /** @throws `BrokenInvariant` */
  async run(): Promise<void> {
    this.#start();
    while (this.#choices.length > 0) {
      await this.#act();
    }
    await this.#quietPhase();
    this.#check();
  }

  #draw(below: number): number {
    return (this.#choices.shift() ?? 0) % below;
  }

  async #act(): Promise<void> {
    const choice = this.#draw(20);
    if (choice < 3) {
      this.#start();
    } else if (choice === 3) {
      this.#crash(this.#draw(processesMax));
    } else if (choice < 6) {
      await this.#pass([10, 300, 1_000, 12_000][this.#draw(4)]!);
    } else if (this.#held.length > 0) {
      this.#letGo(this.#held[this.#draw(this.#held.length)]!);
    }
    await settled();
  }

  /** An entrant in one of the processes, as a first call, a retry or a second workflow would make it. */
  #start(): void {
    if (this.#running < entrantsAtOnceMax) {
      this.#enter(this.#processes[this.#draw(processesMax)]!);
    }
  }

  #enter(processId: number): void {
    this.#running += 1;
    const isAlive = () => this.#processes.includes(processId);
    this.#perform(processId).then(
      () => {
        this.#running -= isAlive() ? 1 : 0;
      },
      () => {
        this.#running -= isAlive() ? 1 : 0;
      },
    );
  }

  async #perform(processId: number): Promise<void> {
    const performed = await perform(
      {
        journal: this.#journalOf(processId),
        provider: this.#providerOf(processId),
        key,
        request: payment("order-1"),
        projection: paymentProjection,
      },
      {
        attempt: 1,
        worker: `process-${processId}`,
        signal: new AbortController().signal,
        patienceMs: 3 * settleMs,
        now: this.clock.now,
        sleep: (ms) => this.#hold(processId, "wait", this.clock.now() + ms),
      },
    );
    const stored = this.store.rows.get(key)?.receipt;
    if (performed.outcome !== "accepted" && JSON.stringify(stored) !== JSON.stringify(performed.receipt)) {
      this.broken ??= "a caller was given a receipt that isn't stored";
    }
  }

  /** The first invariant seen to be broken on the way. */
  broken: string | undefined;

  #journalOf(processId: number): OperationJournal {
    let journal = this.#journals.get(processId);
    if (journal === undefined) {
      const weakened = this.#weakening.verb?.(this.store) ?? ((_verb, _argument, call) => call());
      journal = anotherProcess(this.store, async (verb, argument, call) => {
        await this.#hold(processId, `before ${verb}`);
        const result = await weakened(verb, argument, call);
        await this.#hold(processId, `after ${verb}`);
        return result;
      });
      this.#journals.set(processId, journal);
    }
    return journal;
  }

  #providerOf(processId: number): Payments {
    const { name, policy, find } = this.provider;
    const plain: Payments = {
      name,
      policy,
      send: (request, context) => this.provider.send(request, context),
      sameEffect: (request, receipt) => this.provider.sameEffect(request, receipt),
      ...(find === undefined ? {} : { find }),
    };
    const provider = this.#weakening.provider?.(plain) ?? plain;
    return {
      ...provider,
      send: async (request, context) => {
        await this.#hold(processId, "before send");
        if (this.store.rows.get(key)?.tries.every((each) => each.firstSubmittedAt === null) === true) {
          this.broken ??= "something was sent that was not written down before";
        }
        this.provider.next(this.#fate());
        const answer = await provider.send(request, context);
        await this.#hold(processId, "after send");
        return answer;
      },
      ...(find === undefined
        ? {}
        : {
            find: async (...given: Parameters<typeof find>) => {
              await this.#hold(processId, "before find");
              const found = await find(...given);
              await this.#hold(processId, "after find");
              return found;
            },
          }),
    };
  }

  #fate(): SendFate {
    if (this.#quiet) {
      return {};
    }
    const fates: readonly SendFate[] = [
      {},
      { answerDropped: true },
      { lost: true },
      { commitAfterMs: commitLatestMs },
      { commitAfterMs: commitLatestMs, answerDropped: true },
      { answer: { outcome: "unknown", cause: "503" } },
      { answer: { outcome: "refused", code: "402", detail: "not yet" } },
    ];
    return fates[this.#draw(fates.length)]!;
  }

  #hold(processId: number, what: string, dueAt?: number): Promise<void> {
    return new Promise((letGo) => {
      this.#held.push({ processId, what, dueAt, letGo });
    });
  }

  #letGo(held: Held): void {
    if (held.dueAt !== undefined && held.dueAt > this.clock.now()) {
      return;
    }
    this.#held = this.#held.filter((each) => each !== held);
    held.letGo();
  }

  /**
   * A request that is decided is on its way at once where keys expire: a sender that is paused just before its write
   * for longer than the provider remembers keys is the declared limit, and not what is tested.
   */
  async #pass(ms: number): Promise<void> {
    if (this.#class === "keys that expire, can be asked") {
      for (let send = this.#heldBeforeSend(); send !== undefined; send = this.#heldBeforeSend()) {
        this.#letGo(send);
        await settled();
      }
    }
    this.clock.advance(ms);
  }

  #heldBeforeSend(): Held | undefined {
    return this.#held.find(({ what }) => what === "before send");
  }

  /** SIGKILL: what is held never goes on, and the process that follows remembers nothing. */
  #crash(index: number): void {
    const dead = this.#processes[index]!;
    this.#held = this.#held.filter(({ processId }) => processId !== dead);
    this.#journals.delete(dead);
    this.#processes[index] = this.#nextProcess;
    this.#nextProcess += 1;
    this.#running = this.#processes.every((id) => !this.#journals.has(id)) ? 0 : this.#running;
  }

  async #quietPhase(): Promise<void> {
    this.#quiet = true;
    await this.#letEverythingGo();
    for (let round = 1; round <= 20; round += 1) {
      this.#answerHonestly();
      this.clock.advance(2 * settleMs);
      this.#enter(this.#processes[0]!);
      await settled();
      await this.#letEverythingGo();
      const state = this.store.rows.get(key)?.state;
      if (state === "confirmed" || state === "refused") {
        return;
      }
    }
    throw new BrokenInvariant(`no end was reached: ${this.#story()}`);
  }

  async #letEverythingGo(): Promise<void> {
    for (let step = 0; this.#held.length > 0; step += 1) {
      if (step > stepsOfQuietPhaseMax) {
        throw new BrokenInvariant(`entrants never come to rest: ${this.#story()}`);
      }
      const ready = this.#held.find(({ dueAt }) => dueAt === undefined || dueAt <= this.clock.now());
      if (ready === undefined) {
        await this.#pass(100);
      } else {
        this.#letGo(ready);
      }
      await settled();
    }
  }

  /** A person who looks at the provider's own books, when nothing is on its way any more. */
  #answerHonestly(): void {
    const question = this.store.questions.find(({ answered }) => answered === null);
    if (question === undefined) {
      return;
    }
    this.clock.advance(2 * settleMs);
    const effect = this.provider.effects[0];
    const receipt: PaymentReceipt | undefined = effect && {
      id: effect.id,
      reference: effect.reference,
      amountMinor: effect.amountMinor,
    };
    const answer =
      receipt === undefined ? { answer: "absent" as const } : { answer: "adopt" as const, receipt };
    void this.store.answer({ recoveryId: question.id, answerId: "a", by: "ann", answer });
  }

  #check(): void {
    const { events, questions } = this.store;
    const row = this.store.rows.get(key)!;
    const effects = this.provider.effectsEver.length;
    const guesses = events.filter(({ verb }) => ["markUnknown", "refuse", "park"].includes(verb));
    const receipts = new Set(
      events.filter(({ verb }) => verb === "confirm").map(({ detail }) => JSON.stringify(detail)),
    );
    const parkings = events.filter(({ verb, state }) => verb === "park" && state === "parked").length;
    const broken =
      this.broken ??
      (effects > 1
        ? `${effects} effects`
        : receipts.size > 1
          ? "two different receipts were stored"
          : guesses.some(({ epoch, currentEpoch }) => epoch !== currentEpoch)
            ? "a guess of an old epoch was stored"
            : row.state === "refused" && effects > 0
              ? "refused, and the effect is there"
              : row.state === "confirmed" && effects !== 1
                ? "confirmed, and there is no effect"
                : questions.length < parkings || questions.some(({ answered }) => answered === null)
                  ? "a parked operation was lost"
                  : undefined);
    if (broken !== undefined) {
      throw new BrokenInvariant(`${broken}: ${this.#story()}`);
    }
  }

  #story(): string {
    const told = this.store.events.map(({ verb, state, epoch }) => `${verb}@${epoch}→${state}`).join(" ");
    return `${this.#class}; ${told}; effects ${this.provider.effectsEver.map(({ providerKey }) => providerKey).join(" ")}`;
  }
}

/** Lets everything that can go on without a decision go on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
