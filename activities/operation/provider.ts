/**
 * What `perform` needs to know about an outside system, and the closed set of answers it understands.
 *
 * A provider adapter maps everything that its wire can answer to one `Answer` in one pure, table-tested
 * function. The rule for anything not on the list is `unknown`: a time-out, a reset, a 5xx or a gateway's 401,
 * 403 or 404 says nothing about whether the effect happened.
 */
import type { JsonValue } from "./json.js";

/** How an outside system behaves where it matters after an uncertain send. All durations in milliseconds. */
export interface ProviderPolicy {
  /**
   * It treats a second request with the same idempotency key as the first one, and so gives a refusal again too: a
   * key that was refused once must not succeed later.
   */
  readonly honoursKeys: boolean;
  /**
   * How long it remembers a key, or `null` for ever. Past *half* of it the key counts as possibly expired: half,
   * because a key believed dead too early costs one `find`, and one believed alive too long costs a double.
   */
  readonly keysLiveForMs: number | null;
  /** It can be asked by our own reference whether the effect happened. */
  readonly canFind: boolean;
  /**
   * Worst commit latency + worst read lag: only when this long has passed since the last send does "not found"
   * mean "did not happen".
   */
  readonly settleMs: number;
  /** After this long without a known outcome the operation is parked for a person. */
  readonly parkAfterMs: number;
}

export type Answer<Receipt extends JsonValue> =
  /** The effect is there, and this is its receipt. */
  | { readonly outcome: "done"; readonly receipt: Receipt }
  /** Taken on as a long-running operation, to be asked about at `operationUrl`. */
  | { readonly outcome: "accepted"; readonly operationUrl: string; readonly pollAfterMs: number }
  /** On the provider's own list of definitive refusals: the effect did not happen and won't by this request. */
  | { readonly outcome: "refused"; readonly code: string; readonly detail: string }
  /** The same request is being worked on; ask again, with the same key. */
  | { readonly outcome: "inProgress"; readonly retryAfterMs: number }
  /** Something with our reference is already there; `perform` finds it and compares. */
  | { readonly outcome: "exists"; readonly detail: string }
  /** The key was used for another request; nothing was done, and a person has to look. */
  | { readonly outcome: "conflict"; readonly detail: string }
  /** A fenced destination has something newer; a result, not an error. */
  | { readonly outcome: "superseded"; readonly receipt: Receipt }
  /** Anything else. */
  | { readonly outcome: "unknown"; readonly cause: string; readonly retryAfterMs?: number };

export interface SendContext {
  /** The key of this *try*; an adapter puts it where its provider wants it, unchanged. */
  readonly providerKey: string;
  readonly signal: AbortSignal;
}

export interface FindContext {
  readonly signal: AbortSignal;
}

/** One kind of effect at one outside system. */
export interface EffectProvider<Request extends JsonValue, Receipt extends JsonValue> {
  /** For events and messages: `accounting`. */
  readonly name: string;
  readonly policy: ProviderPolicy;
  /** Sends once. It never retries by itself and never throws for what the wire did: that is an `Answer`. */
  send(request: Request, context: SendContext): Promise<Answer<Receipt>>;
  /**
   * Asks by our own reference, taken from the request. `absent` means only "not visible now"; `perform` decides
   * with `settleMs` what that is worth. Present exactly when `policy.canFind`.
   */
  find?(request: Request, context: FindContext): Promise<Found<Receipt>>;
  /**
   * Does what was found carry the content that we asked for? Compares meaning, not bytes: 100 and 100.00 are the
   * same amount.
   */
  sameEffect(request: Request, receipt: Receipt): boolean;
}

export type Found<Receipt extends JsonValue> =
  | { readonly found: "present"; readonly receipt: Receipt }
  | { readonly found: "absent" }
  | { readonly found: "unknown"; readonly cause: string; readonly retryAfterMs?: number };
