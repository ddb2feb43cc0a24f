/**
 * Operation keys: the names under which effects happen once.
 *
 * ```
 * <case>:<business id>:<operation>[:<step>]        invoice:inv-7:post
 * ```
 *
 * A key is made from what the business calls the thing, in the workflow, from the workflow's input. Never from an
 * attempt, a run id, an activity id, a random id, the time or a model's text: each of these differs when the same
 * thing is asked for again, and then the effect happens again.
 *
 * This file is pure and imports nothing, so that workflow code can use it as it stands.
 */

export interface OperationKeyParts {
  /** The process the operation belongs to: `invoice`. */
  readonly case: string;
  /**
   * What the business calls the thing. Several parts when it can recur and carries its episode:
   * `[fingerprint, episode, round]`.
   */
  readonly businessId: string | readonly string[];
  /** What is done: `post`. Part of the key, so that a refund is never taken for a repeat of the capture. */
  readonly operation: string;
  /** Which one, when the same operation is done several times for one business id: `notify-approver-2`. */
  readonly step?: string;
}

/**
 * Longest key, in characters. Providers cut or refuse longer idempotency keys (255 is the usual limit), and a key
 * that was cut is a key that two operations share; the rest is room for `/try-<number>`.
 */
export const operationKeyLengthMax = 240;

/**
 * What a part may hold: letters, digits and `. _ ~ @ + = -`. No colon, because `a:b` + `c` and `a` + `b:c` would be
 * one key; no slash, because `/try-2` marks a try; nothing that a header or a URL would change on its way.
 */
const allowedPart = /^[A-Za-z0-9._~@+=-]+$/;
const allowedWords = "letters, digits and . _ ~ @ + = -";

/** A part of an operation key is empty or holds what keys can't carry, or the key is too long. */
export class InvalidOperationKey extends Error {
  override readonly name = "InvalidOperationKey";
}

/**
 * Builds an operation key.
 *
 * @throws `InvalidOperationKey` naming the part, its value and what is allowed.
 */
export function operationKey(parts: OperationKeyParts): string {
  const businessId = typeof parts.businessId === "string" ? [parts.businessId] : parts.businessId;
  if (businessId.length === 0) {
    throw new InvalidOperationKey("businessId has no parts; allowed: one part or more.");
  }
  const key = [
    checkedPart("case", parts.case),
    ...businessId.map((part) => checkedPart("businessId", part)),
    checkedPart("operation", parts.operation),
    ...(parts.step === undefined ? [] : [checkedPart("step", parts.step)]),
  ].join(":");
  return checkedLength(key);
}

/**
 * Checks a key that came from elsewhere: at least three parts, each as `operationKey` would allow it.
 *
 * @returns the key.
 * @throws `InvalidOperationKey` naming what is wrong and what is allowed.
 */
export function checkedOperationKey(key: string): string {
  const parts = key.split(":");
  if (parts.length < 3) {
    throw new InvalidOperationKey(
      `The key ${JSON.stringify(key)} has ${parts.length} part(s); allowed: <case>:<business id>:<operation>[:<step>].`,
    );
  }
  for (const part of parts) {
    checkedPart(`a part of the key ${JSON.stringify(key)}`, part);
  }
  return checkedLength(key);
}

/**
 * The idempotency key that a try goes out under. The first try uses the operation key itself; a later one has its
 * own, since a provider that honours keys would answer it with the first try's refusal for ever.
 */
export function providerKeyOf(key: string, tryNumber: number): string {
  return tryNumber === 1 ? key : `${key}/try-${tryNumber}`;
}

function checkedPart(field: string, value: string): string {
  if (!allowedPart.test(value)) {
    throw new InvalidOperationKey(
      `${field} is ${JSON.stringify(value)}; allowed: one character or more of ${allowedWords}.`,
    );
  }
  return value;
}

function checkedLength(key: string): string {
  if (key.length > operationKeyLengthMax) {
    throw new InvalidOperationKey(
      `The key ${JSON.stringify(key)} has ${key.length} characters; allowed: at most ${operationKeyLengthMax}.`,
    );
  }
  return key;
}
