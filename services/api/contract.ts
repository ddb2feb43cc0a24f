/** Zod contracts on routes: what a request breaks becomes a problem that names field, value and what is allowed. */
import type { FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import { ApiProblem, fieldErrors, fieldErrorsText } from "./problems.js";

const partNames: Readonly<Record<string, string>> = {
  body: "body",
  headers: "headers",
  querystring: "query",
  params: "path",
};

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (input: unknown) => {
    const result = schema.safeParse(input);
    if (result.success) return { value: result.data };
    const errors = fieldErrors(partNames[httpPart ?? ""] ?? "request", result.error.issues, input);
    return { error: new ApiProblem("InvalidRequest", fieldErrorsText(errors), { errors }) };
  };
