/**
 * The back door of the world: a story tells faults and puts documents with the control token, the judge reads the
 * journal with its own. Neither token opens the other's routes, and a client's API key opens none.
 */
import type { Logger } from "pino";
import type pg from "pg";
import { z } from "zod";
import { documentIdSchema, putDocument } from "../documents/store.js";
import type { FaultBook } from "../faults/book.js";
import { faultSchema, runTokenSchema, systems } from "../faults/fault.js";
import { sameSecret } from "../http/bearer.js";
import { fieldErrors, problemType, ProblemError } from "../http/problem.js";
import { createServer, invalidRequest, type WorldServer } from "../http/server.js";
import type { Journal } from "../journal/append.js";
import { readJournal } from "../journal/read.js";
import type { Work } from "../work.js";

export interface ControlOptions {
  readonly controlToken: string;
  readonly judgeToken: string;
  /** The clients' API keys: known, and refused as such. */
  readonly clientKeys: readonly string[];
  readonly judge: pg.Pool;
  readonly journal: Journal;
  readonly book: FaultBook;
  readonly work: Work;
  readonly logger: Logger;
}

/** The largest document that a story may put. */
const bodyBytesMax = 10 * 1024 * 1024;
/** A page of the journal; a reader asks for the next one with the last number it saw. */
const entriesMax = 1_000;
/** Shorter than the time-out of any HTTP client for an answer. */
const waitMsMax = 25_000;

export function createControlServer(options: ControlOptions): WorldServer {
  const { controlToken, judgeToken, clientKeys, logger, journal } = options;
  const app = createServer({
    system: "control",
    logger,
    work: options.work,
    bodyBytesMax,
    authorise: (token, request) => {
      const known = [controlToken, judgeToken, ...clientKeys];
      if (token === undefined || !known.some((secret) => sameSecret(token, secret))) {
        throw refusal(401, "Not authenticated", "The request needs a token: Authorization: Bearer <token>.");
      }
      const needed = request.routeOptions.url === "/journal" ? judgeToken : controlToken;
      if (!sameSecret(token, needed)) {
        throw refusal(403, "Not allowed", "This token is not for this route.");
      }
    },
  });
  registerFaults(app, options.book);
  registerJournal(app, options);

  // Documents are bytes of any type, so nothing here parses them.
  app.register(async (scope: WorldServer) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    const params = z.strictObject({ documentId: documentIdSchema });
    scope.put("/documents/:documentId", { schema: { params } }, async (request, reply) => {
      const mediaType = request.headers["content-type"];
      if (mediaType === undefined || !Buffer.isBuffer(request.body)) {
        const message = "must name the media type of the document's bytes";
        throw new ProblemError(
          invalidRequest("control", [{ field: "Content-Type", value: mediaType ?? null, message }]),
        );
      }
      await putDocument(journal, { documentId: request.params.documentId, mediaType, bytes: request.body });
      return reply.code(204).send();
    });
  });
  return app;
}

function registerFaults(app: WorldServer, book: FaultBook): void {
  app.post("/faults", async (request, reply) => {
    const fault = faultSchema.safeParse(request.body);
    if (!fault.success) {
      throw new ProblemError(invalidRequest("control", fieldErrors(fault.error.issues, request.body)));
    }
    return reply.code(201).send(book.tell(fault.data));
  });

  const runSchema = z.strictObject({ run: runTokenSchema });
  app.get("/faults", { schema: { querystring: runSchema.partial() } }, (request, reply) =>
    reply.send({ items: book.list(request.query.run) }),
  );
  app.delete("/faults", { schema: { querystring: runSchema } }, (request, reply) =>
    reply.send({ removed: book.removeRun(request.query.run) }),
  );

  const params = z.strictObject({ id: z.coerce.number("must be the number of a fault").int() });
  app.delete("/faults/:id", { schema: { params } }, async (request, reply) => {
    if (book.remove(request.params.id)) return reply.code(204).send();
    throw refusal(404, "No such fault", `There is no fault ${request.params.id}.`);
  });
}

function registerJournal(app: WorldServer, { judge, journal, work }: ControlOptions): void {
  const querystring = z.strictObject({
    after: z.coerce.number("must be a number of the journal").int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(entriesMax).default(entriesMax),
    waitMs: z.coerce.number().int().min(0).max(waitMsMax).default(0),
    run: runTokenSchema.optional(),
    system: z.enum(systems, `must be one of ${systems.join(", ")}`).optional(),
  });
  app.get("/journal", { schema: { querystring } }, async (request, reply) => {
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    const stop = AbortSignal.any([gone.signal, work.closing]);
    return { entries: await readJournal(judge, journal, request.query, stop) };
  });
}

function refusal(status: number, title: string, detail: string): ProblemError {
  const name = title.toLowerCase().replaceAll(" ", "-");
  return new ProblemError({ type: problemType("control", name), title, status, detail });
}
