/** The API as a Fastify app: contracts and roles on its routes, problem details for everything that goes wrong. */
import swagger from "@fastify/swagger";
import Fastify, { LogController, type FastifyError, type FastifyReply, type FastifyRequest } from "fastify";
import { jsonSchemaTransform, serializerCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import type { Logger } from "pino";
import type { Ledger } from "../../adapters/ledger/database.js";
import { meaningOf } from "../../adapters/ledger/retryable.js";
import type { FailureName } from "../../failures/catalogue.js";
import type { InvoicePolicy } from "../../workflows/invoice-approval/policy.js";
import { authorise } from "./authorisation.js";
import type { CallerDirectory } from "./callers.js";
import { validatorCompiler } from "./contract.js";
import { answerToUnreadable, connectionLimits, type ConnectionLimits } from "./connection-limits.js";
import { ApiProblem, problemMediaType, problemOf, retryAfterSecondsOf } from "./problems.js";
import { registerInvoiceBatches } from "./routes/invoice-batches.js";
import { registerOperating } from "./routes/operating.js";
import { registerReviews } from "./routes/reviews.js";

export interface ApiDependencies {
  readonly ledger: Ledger;
  readonly callers: CallerDirectory;
  readonly policy: InvoicePolicy;
  /** Where the workers of the admitted batches listen. */
  readonly taskQueue: string;
  /** Per tenant. */
  readonly openBatchesMax: number;
  readonly logger: Logger;
}

/** Eight references are a few kilobytes; a megabyte bounds what one caller can make the process hold. */
export const bodyBytesMax = 1_048_576;

/** Longer than any id in a path: a review's id holds a batch id and an invoice key of a hundred characters each. */
const pathParameterCharactersMax = 400;

export type Api = Awaited<ReturnType<typeof buildApi>>;

/** The app, ready to be injected into or to listen. Closing it leaves the ledger open. */
export async function buildApi(dependencies: ApiDependencies, limits: ConnectionLimits = connectionLimits) {
  const app = Fastify({
    loggerInstance: dependencies.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytesMax,
    http: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersMsMax,
      connectionsCheckingInterval: limits.checkEveryMs,
    },
    requestTimeout: limits.requestMsMax,
    clientErrorHandler: (error, socket) => answerToUnreadable(error, socket, dependencies.logger),
    routerOptions: { maxParamLength: pathParameterCharactersMax },
    // A connection that is kept alive without a request would keep a stop waiting.
    forceCloseConnections: "idle",
    frameworkErrors: (error, request, reply) => answer(error, request, reply),
  }).withTypeProvider<ZodTypeProvider>();
  app.server.maxConnections = limits.connectionsMax;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorateRequest("caller", null);
  app.addHook("onRequest", async (request) => authorise(request, dependencies.callers));
  app.addHook("onSend", async (_request, reply) => {
    // Answers hold invoices and who decided on them: no cache on the way may keep one, no browser may guess a type.
    void reply.header("Cache-Control", "no-store").header("X-Content-Type-Options", "nosniff");
  });
  app.addHook("onResponse", async (request, reply) => {
    request.log.info({
      event: "request",
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      caller: request.caller?.id ?? null,
      tookMs: Math.round(reply.elapsedTime),
    });
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => answer(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const problem = new ApiProblem("UnknownRoute", `there is no ${request.method} ${pathOf(request)}`);
    return answer(problem, request, reply);
  });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Killproof",
        version: "0.1.0",
        description: "Admits invoice batches and takes decisions.",
      },
      components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer" } } },
    },
    transform: jsonSchemaTransform,
  });
  registerInvoiceBatches(app, dependencies);
  registerReviews(app, dependencies);
  registerOperating(app, dependencies);
  await app.ready();
  return app;
}

/** Longest path that a problem repeats, in characters: enough to be recognised. */
const pathCharactersMax = 200;

/** Without the query, which may hold anything. */
function pathOf({ url }: FastifyRequest): string {
  const path = url.split("?", 1)[0]!;
  return path.length <= pathCharactersMax ? path : `${path.slice(0, pathCharactersMax)}…`;
}

function answer(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = error instanceof ApiProblem ? error.problem : problemOfForeign(error);
  if (problem.status >= 500) request.log.error({ err: error }, problem.title);
  const retryAfterSeconds = retryAfterSecondsOf(problem);
  if (retryAfterSeconds !== undefined) void reply.header("Retry-After", retryAfterSeconds);
  if (problem.status === 401) void reply.header("WWW-Authenticate", "Bearer");
  return reply.code(problem.status).type(problemMediaType).send(problem);
}

/** What Fastify says of a request that never came to its route. Anything else of status 4xx is an invalid request. */
const fastifyProblems: Readonly<Record<number, FailureName>> = {
  413: "BodyTooLarge",
  415: "UnsupportedMediaType",
};

/** Anything but our own problems: the framework's, the database's, and bugs, whose message stays in the log. */
function problemOfForeign(error: unknown) {
  const { statusCode = 500, message = "" } = error as Partial<FastifyError>;
  if (statusCode >= 400 && statusCode < 500) {
    return problemOf(fastifyProblems[statusCode] ?? "InvalidRequest", message);
  }
  const failure = meaningOf(error);
  return failure === undefined
    ? problemOf("UnexpectedFailure", "see the log of the API")
    : problemOf("LedgerUnavailable", `the ledger said: ${failure.meaning}`);
}
