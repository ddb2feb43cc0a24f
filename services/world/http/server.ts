/**
 * An HTTP server of the world: zod contracts on its routes, problem details for errors, a body limit, and one
 * access log line per request, by which requests can be counted independently of the journal.
 */
import Fastify, { LogController, type FastifyError, type FastifyRequest } from "fastify";
import {
  hasZodFastifySchemaValidationErrors,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from "fastify-type-provider-zod";
import type { Logger } from "pino";
import type { Work } from "../work.js";
import { bearerToken } from "./bearer.js";
import {
  fieldErrorsText,
  problemMediaType,
  problemType,
  ProblemError,
  type FieldError,
  type Problem,
} from "./problem.js";

export interface ServerOptions {
  /** Names the server in logs and in the types of its problems. */
  readonly system: string;
  readonly logger: Logger;
  /** Is told of every request, so that a stop can wait for its answer. */
  readonly work: Work;
  readonly bodyBytesMax: number;
  /** @throws ProblemError when this token may not call at all. */
  readonly authorise: (token: string | undefined, request: FastifyRequest) => void;
}

/** Longer than any business key that a route carries in its path. */
const pathParameterCharactersMax = 400;

export function createServer({ system, logger, work, bodyBytesMax, authorise }: ServerOptions) {
  const log = logger.child({ system });
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytesMax,
    routerOptions: { maxParamLength: pathParameterCharactersMax },
    forceCloseConnections: "idle",
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);

  app.addHook("onRequest", async (request, reply) => {
    const startedAt = performance.now();
    // `close` comes once for every request, also when its answer was never sent.
    const closed = new Promise((resolve) => reply.raw.once("close", resolve));
    void work.track(closed).then(() => {
      log.info({
        event: "request",
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.raw.headersSent ? reply.raw.statusCode : null,
        tookMs: Math.round(performance.now() - startedAt),
      });
    });
    authorise(bearerToken(request), request);
  });

  app.setErrorHandler<FastifyError | ProblemError>((error, request, reply) => {
    const problem = toProblem(system, error, request);
    if (problem.status >= 500) log.error({ err: error }, "request failed");
    return reply.code(problem.status).type(problemMediaType).send(JSON.stringify(problem));
  });
  app.setNotFoundHandler((request, reply) =>
    reply
      .code(404)
      .type(problemMediaType)
      .send(
        JSON.stringify({
          type: problemType(system, "no-such-route"),
          title: "No such route",
          status: 404,
          detail: `There is no ${request.method} ${request.url}.`,
        } satisfies Problem),
      ),
  );
  return app;
}

export type WorldServer = ReturnType<typeof createServer>;

function toProblem(system: string, error: FastifyError | ProblemError, request: FastifyRequest): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const part = error.validationContext ?? "request";
    const source = { body: request.body, querystring: request.query, params: request.params }[part as "body"];
    const errors = error.validation.map(({ instancePath, message }): FieldError => {
      const path = instancePath.split("/").filter((step) => step !== "");
      return {
        field: path.join(".") || `(${part})`,
        value: reach(source, path),
        message: message ?? "invalid",
      };
    });
    return invalidRequest(system, errors);
  }
  const status = error.statusCode ?? 500;
  return {
    type: problemType(system, status >= 500 ? "internal" : "invalid-request"),
    title: status >= 500 ? "Internal error" : "Invalid request",
    status,
    detail: status >= 500 ? "The request could not be worked on." : error.message,
  };
}

export function invalidRequest(system: string, errors: readonly FieldError[]): Problem {
  return {
    type: problemType(system, "invalid-request"),
    title: "Invalid request",
    status: 400,
    detail: fieldErrorsText(errors),
    errors,
  };
}

function reach(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const step of path) value = (value as Record<string, unknown> | null | undefined)?.[step];
  return value ?? null;
}
