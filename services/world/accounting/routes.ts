/** The accounting system: postings by idempotency key, and a lookup by the client's own reference. */
import { z } from "zod";
import { gatewayAnswer, give, jsonAnswer, problemAnswer, type WireAnswer } from "../answer.js";
import type { FaultsInForce } from "../faults/book.js";
import { problemType } from "../http/problem.js";
import { idempotencyHeadersSchema } from "../http/provider.js";
import type { WorldServer } from "../http/server.js";
import { createKeyedEffect, type EffectDependencies } from "../keyed-effect.js";
import { postEffect } from "./commit.js";
import { findPostings, postingRequestSchema } from "./posting.js";

const lookupSchema = z.strictObject({ invoiceKey: postingRequestSchema.shape.invoiceKey });

export function registerAccounting(app: WorldServer, dependencies: EffectDependencies): void {
  const { journal, book, work, pool } = dependencies;
  const post = createKeyedEffect(postEffect, dependencies);

  app.post(
    "/postings",
    { schema: { body: postingRequestSchema, headers: idempotencyHeadersSchema } },
    (request, reply) => post(request.body, request.headers["idempotency-key"], reply),
  );

  app.get("/postings", { schema: { querystring: lookupSchema } }, async (request, reply) => {
    const { invoiceKey } = request.query;
    const asked = { system: "accounting", operation: "find", key: invoiceKey } as const;
    const faults = book.take(asked);
    const content = { invoiceKey };
    const journaled = await journal.received({ ...asked, idempotencyKey: null, content, faults });
    const find = async (): Promise<WireAnswer> => {
      if (faults.unavailable !== undefined) return gatewayAnswer(faults.unavailable);
      await work.delay(faults.slow?.ms ?? 0);
      if (faults.noFind !== undefined) return lookupNotSupported();
      return jsonAnswer(200, { items: await findPostings(pool, invoiceKey, lagMs(faults)) });
    };
    return work.track(find().then((answer) => give(reply, answer, journaled, faults)));
  });
}

function lagMs({ lookupLag }: FaultsInForce): number {
  return lookupLag?.ms ?? 0;
}

function lookupNotSupported(): WireAnswer {
  return problemAnswer({
    type: problemType("accounting", "lookup-not-supported"),
    title: "Lookup not supported",
    status: 404,
    detail: "This system does not look up postings by a client's reference.",
  });
}
