/** The document system: it gives out files. */
import { z } from "zod";
import { gatewayAnswer, give, problemAnswer, type WireAnswer } from "../answer.js";
import { problemType } from "../http/problem.js";
import type { WorldServer } from "../http/server.js";
import type { EffectDependencies } from "../keyed-effect.js";
import { documentIdSchema, readDocument } from "./store.js";

export function registerDocuments(app: WorldServer, dependencies: EffectDependencies): void {
  const { journal, book, work, pool } = dependencies;
  const params = z.strictObject({ documentId: documentIdSchema });

  app.get("/documents/:documentId", { schema: { params } }, async (request, reply) => {
    const { documentId } = request.params;
    const asked = { system: "documents", operation: "fetch", key: documentId } as const;
    const faults = book.take(asked);
    const content = { documentId };
    const journaled = await journal.received({ ...asked, idempotencyKey: null, content, faults });
    const fetch = async (): Promise<WireAnswer> => {
      if (faults.unavailable !== undefined) return gatewayAnswer(faults.unavailable);
      await work.delay(faults.slow?.ms ?? 0);
      const document = await readDocument(pool, documentId);
      return document === undefined
        ? noSuchDocument(documentId)
        : { status: 200, mediaType: document.mediaType, body: document.bytes };
    };
    return work.track(fetch().then((answer) => give(reply, answer, journaled, faults)));
  });
}

function noSuchDocument(documentId: string): WireAnswer {
  return problemAnswer({
    type: problemType("documents", "no-such-document"),
    title: "No such document",
    status: 404,
    detail: `There is no document ${documentId}.`,
  });
}
