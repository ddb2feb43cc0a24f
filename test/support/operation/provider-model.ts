/**
 * An outside system as a model on a virtual clock: it commits what it was sent, now or later, remembers keys as long
 * as it promises, can be asked with a lag, and answers or doesn't. Its own list of effects is what tests count.
 */
import type {
  Answer,
  EffectProvider,
  FindContext,
  Found,
  ProviderPolicy,
  SendContext,
} from "../../../activities/operation/provider.js";

export type Payment = { readonly reference: string; readonly amountMinor: number; readonly note?: string };
export type PaymentReceipt = {
  readonly id: string;
  readonly reference: string;
  readonly amountMinor: number;
};

export interface Effect extends PaymentReceipt {
  readonly providerKey: string;
  readonly committedAt: number;
}

/** What happens to one send. */
export interface SendFate {
  /** The request never arrives. */
  readonly lost?: boolean;
  /** The effect is committed this many milliseconds after the request arrived; default 0. */
  readonly commitAfterMs?: number;
  /** The sender isn't told; it gives up as if timed out. */
  readonly answerDropped?: boolean;
  /** Answered instead of being worked on; nothing is committed. */
  readonly answer?: Answer<PaymentReceipt>;
}

export class VirtualClock {
  #nowMs = 1_700_000_000_000;
  readonly now = (): number => this.#nowMs;
  advance(ms: number): void {
    this.#nowMs += ms;
  }
}

export interface ProviderKnobs extends ProviderPolicy {
  /** How long an effect stays invisible to `find` after its commit; default 0. */
  readonly readLagMs?: number;
}

export class ProviderModel implements EffectProvider<Payment, PaymentReceipt> {
  readonly name = "payments";
  readonly policy: ProviderPolicy;
  readonly find?: (request: Payment, context: FindContext) => Promise<Found<PaymentReceipt>>;
  readonly #knobs: ProviderKnobs;
  readonly #clock: VirtualClock;
  /** Each request that arrived, committed or not. */
  readonly arrived: { readonly providerKey: string; readonly request: Payment }[] = [];
  /** Committed now or, with a time to come, on their way. */
  readonly #effects: Effect[] = [];
  readonly #fates: SendFate[] = [];
  /** A provider that honours keys gives a key's first answer again, a refusal too. */
  readonly #refusals = new Map<string, Answer<PaymentReceipt>>();
  /** While set, each answer to a send. */
  down: Answer<PaymentReceipt> | undefined;
  findDown = false;

  constructor(clock: VirtualClock, knobs: ProviderKnobs) {
    this.#clock = clock;
    this.#knobs = knobs;
    const { honoursKeys, keysLiveForMs, canFind, settleMs, parkAfterMs } = knobs;
    this.policy = { honoursKeys, keysLiveForMs, canFind, settleMs, parkAfterMs };
    if (canFind) {
      this.find = (request) => this.#find(request);
    }
  }

  /** Decides the next sends, in order; after them every send is answered well. */
  next(...fates: readonly SendFate[]): void {
    this.#fates.push(...fates);
  }

  /** What has been committed by now. */
  get effects(): readonly Effect[] {
    return this.#effects.filter((effect) => effect.committedAt <= this.#clock.now());
  }

  /** Also what is still on its way. */
  get effectsEver(): readonly Effect[] {
    return this.#effects;
  }

  /** Somebody else's effect under the same reference. */
  plant(reference: string, amountMinor: number): Effect {
    return this.#commit("planted", { reference, amountMinor }, 0);
  }

  async send(request: Payment, { providerKey }: SendContext): Promise<Answer<PaymentReceipt>> {
    const fate = this.#fates.shift() ?? {};
    if (this.down !== undefined) {
      return this.down;
    }
    if (fate.lost === true) {
      return timedOut;
    }
    this.arrived.push({ providerKey, request });
    const known = this.#knobs.honoursKeys ? this.#rememberedUnder(providerKey) : undefined;
    const refused = this.#knobs.honoursKeys ? this.#refusals.get(providerKey) : undefined;
    if (refused !== undefined) {
      return refused;
    }
    if (fate.answer !== undefined && known === undefined) {
      if (fate.answer.outcome === "refused") {
        this.#refusals.set(providerKey, fate.answer);
      }
      return fate.answer;
    }
    const effect = known ?? this.#commit(providerKey, request, fate.commitAfterMs ?? 0);
    if (fate.answerDropped === true) {
      return timedOut;
    }
    if (effect.committedAt > this.#clock.now()) {
      return known === undefined ? timedOut : { outcome: "inProgress", retryAfterMs: 50 };
    }
    return { outcome: "done", receipt: receiptOf(effect) };
  }

  sameEffect(request: Payment, receipt: PaymentReceipt): boolean {
    return request.reference === receipt.reference && request.amountMinor === receipt.amountMinor;
  }

  async #find(request: Payment): Promise<Found<PaymentReceipt>> {
    if (this.findDown) {
      return { found: "unknown", cause: "503" };
    }
    const visibleUntil = this.#clock.now() - (this.#knobs.readLagMs ?? 0);
    const effect = this.#effects.find(
      (each) => each.reference === request.reference && each.committedAt <= visibleUntil,
    );
    return effect === undefined ? { found: "absent" } : { found: "present", receipt: receiptOf(effect) };
  }

  #rememberedUnder(providerKey: string): Effect | undefined {
    const { keysLiveForMs } = this.#knobs;
    const since = keysLiveForMs === null ? -Infinity : this.#clock.now() - keysLiveForMs;
    return this.#effects.find((each) => each.providerKey === providerKey && each.committedAt > since);
  }

  #commit(providerKey: string, request: Payment, afterMs: number): Effect {
    const effect = {
      id: `p-${this.#effects.length + 1}`,
      reference: request.reference,
      amountMinor: request.amountMinor,
      providerKey,
      committedAt: this.#clock.now() + afterMs,
    };
    this.#effects.push(effect);
    return effect;
  }
}

const timedOut = { outcome: "unknown", cause: "timed out" } as const;

function receiptOf({ id, reference, amountMinor }: Effect): PaymentReceipt {
  return { id, reference, amountMinor };
}
