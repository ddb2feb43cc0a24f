/**
 * How the outside systems take a request with an effect. The first answer of an idempotency key is stored in the
 * transaction of the effect and given again to whoever repeats the request, also when it was a refusal; a key with
 * another request is refused, and one whose request is under way is told so. A request without a key is done as
 * often as it comes.
 */
import type { FastifyReply } from "fastify";
import type pg from "pg";
import { gatewayAnswer, give, type WireAnswer } from "./answer.js";
import type { FaultBook, FaultsInForce } from "./faults/book.js";
import { forgetExpired, rememberAnswer, storedAnswer } from "./idempotency.js";
import type { Journal, JournaledRequest } from "./journal/append.js";
import { digestOf, type Content } from "./journal/entry.js";
import { failed, inProgress, keyReused, refused } from "./keyed-answers.js";
import type { Work } from "./work.js";

export interface KeyedEffect<Body extends Content> {
  readonly system: "accounting" | "mail";
  readonly operation: "post" | "send";
  /** The business key of a request, by which it is journaled and faults find it. */
  readonly keyOf: (body: Body) => string;
  /** Makes the effect and its `committed` rows in the given transaction, and says what to answer. */
  readonly commit: (
    client: pg.PoolClient,
    body: Body,
    context: { readonly faults: FaultsInForce; readonly request: JournaledRequest },
  ) => Promise<WireAnswer>;
}

export interface EffectDependencies {
  readonly journal: Journal;
  readonly book: FaultBook;
  readonly work: Work;
  readonly pool: pg.Pool;
}

export function createKeyedEffect<Body extends Content>(
  effect: KeyedEffect<Body>,
  { journal, book, work, pool }: EffectDependencies,
) {
  /** Keys whose request is under way, with its digest. One process, so memory is the truth about it. */
  const underWay = new Map<string, string>();

  const handle = async (body: Body, idempotencyKey: string | null, reply: FastifyReply) => {
    const { system, operation } = effect;
    const key = effect.keyOf(body);
    const faults = book.take({ system, operation, key });
    const request = await journal.received({ system, operation, key, idempotencyKey, content: body, faults });
    const answer = await answerFor({ body, idempotencyKey, faults, request });
    return give(reply, answer, request, faults);
  };

  const answerFor = async (context: EffectContext<Body>): Promise<WireAnswer> => {
    const { body, idempotencyKey, faults } = context;
    if (faults.unavailable !== undefined) return gatewayAnswer(faults.unavailable);
    await work.delay(faults.slow?.ms ?? 0);
    if (idempotencyKey === null || faults.noKeys !== undefined) return carryOut(context, null);

    const digest = digestOf(body);
    const other = underWay.get(idempotencyKey);
    if (other !== undefined)
      return other === digest ? inProgress(effect.system) : keyReused(effect.system, idempotencyKey);
    underWay.set(idempotencyKey, digest);
    try {
      if (faults.keysExpire !== undefined) {
        await forgetExpired(pool, effect.system, idempotencyKey, faults.keysExpire.ms);
      }
      const stored = await storedAnswer(pool, effect.system, idempotencyKey);
      if (stored === undefined) return await carryOut(context, { key: idempotencyKey, digest });
      return stored.requestDigest === digest ? stored.answer : keyReused(effect.system, idempotencyKey);
    } finally {
      underWay.delete(idempotencyKey);
    }
  };

  const carryOut = async (context: EffectContext<Body>, record: KeyRecord | null): Promise<WireAnswer> => {
    const { body, faults, request } = context;
    const remember = async (client: pg.Pool | pg.PoolClient, answer: WireAnswer) => {
      if (record !== null) await rememberAnswer(client, { system: effect.system, ...record, answer });
    };
    if (faults.refuse !== undefined) {
      const refusal = refused(effect.system, faults.refuse.code);
      await remember(pool, refusal);
      return refusal;
    }
    await work.delay(faults.lateCommit?.ms ?? 0);
    const { errorAfterCommit } = faults;
    const error = errorAfterCommit && failed(effect.system, errorAfterCommit.status);
    const answer = await journal.transaction(async (client) => {
      const first = await effect.commit(client, body, { faults, request });
      await remember(client, errorAfterCommit?.replayed === true ? error! : first);
      return first;
    });
    return error ?? answer;
  };

  return (body: Body, idempotencyKey: string | undefined, reply: FastifyReply) =>
    work.track(handle(body, idempotencyKey ?? null, reply));
}

interface EffectContext<Body> {
  readonly body: Body;
  readonly idempotencyKey: string | null;
  readonly faults: FaultsInForce;
  readonly request: JournaledRequest;
}

interface KeyRecord {
  readonly key: string;
  readonly digest: string;
}
