/** Problem details (RFC 9457). Their types are the names of the failure catalogue, and so are their statuses. */
import { z } from "zod";
import { failures, type FailureKind, type FailureName } from "../../failures/catalogue.js";

export const problemMediaType = "application/problem+json";

export const fieldErrorSchema = z.object({
  field: z.string().meta({ description: "Where: `body.invoices.2.revision`." }),
  value: z.string().meta({ description: "What was there, as JSON, cut when it is long." }),
  message: z.string().meta({ description: "What is allowed." }),
});

export type FieldError = z.infer<typeof fieldErrorSchema>;

/** Open for the members that a type adds, such as the two fingerprints of a conflict. */
export const problemSchema = z.looseObject({
  type: z.string().meta({ description: "`urn:problem-type:killproof:` and the failure's name." }),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  retryable: z
    .boolean()
    .meta({ description: "May the same request be sent again without changing anything?" }),
  errors: z.array(fieldErrorSchema).optional(),
});

export type Problem = z.infer<typeof problemSchema>;

/** Thrown by a handler, also inside a transaction, which it rolls back; the error handler turns it into the answer. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly problem: Problem;

  /** @param members what this type adds to the standard members */
  constructor(
    failure: FailureName,
    detail: string,
    members: Readonly<Record<string, unknown>> & { readonly errors?: FieldError[] } = {},
  ) {
    super(detail);
    this.problem = problemOf(failure, detail, members);
  }
}

export function problemOf(
  failure: FailureName,
  detail: string,
  members: Readonly<Record<string, unknown>> & { readonly errors?: FieldError[] } = {},
): Problem {
  const { meaning, httpStatus, retryable }: FailureKind = failures[failure];
  return { type: problemType(failure), title: meaning, status: httpStatus, detail, retryable, ...members };
}

/**
 * When to come again, in seconds. A place among the open batches becomes free when one ends, which takes seconds
 * without a review; asking sooner costs a transaction under the tenant's lock. A ledger that restarts is back within
 * a second or two.
 */
const retryAfterSeconds: Partial<Record<FailureName, number>> = {
  TooManyOpenBatches: 5,
  LedgerUnavailable: 2,
};

/** Value of the header `Retry-After`, for problems that have one. */
export function retryAfterSecondsOf({ type }: Problem): number | undefined {
  return retryAfterSeconds[type.slice(typePrefix.length) as FailureName];
}

const typePrefix = "urn:problem-type:killproof:";

export function problemType(failure: FailureName): string {
  return `${typePrefix}${failure}`;
}

/** The answers of a route with these failures, by status, for its contract. */
export function problemResponses(...names: readonly FailureName[]) {
  const byStatus = new Map<number, FailureName[]>();
  for (const name of names) {
    const status = failures[name].httpStatus;
    byStatus.set(status, [...(byStatus.get(status) ?? []), name]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, alike]) => [
      status,
      {
        description: alike.map((name) => `\`${name}\`: ${failures[name].meaning}`).join(" "),
        content: { [problemMediaType]: { schema: problemSchema } },
      },
    ]),
  );
}

/** Longest value that an error repeats, in characters: enough to be recognised, too short to flood a log. */
const valueCharactersMax = 100;

/** What a schema found wrong in a part of the request. */
export function fieldErrors(
  part: string,
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  input: unknown,
): FieldError[] {
  return issues.map(({ path, message }) => ({
    field: [part, ...path.map(String)].join("."),
    value: shorten(valueAt(input, path)),
    message,
  }));
}

/** For people: every field in one sentence. */
export function fieldErrorsText(errors: readonly FieldError[]): string {
  return errors.map(({ field, value, message }) => `${field} is ${value}: ${message}`).join("; ");
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

function shorten(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length <= valueCharactersMax ? text : `${text.slice(0, valueCharactersMax)}…`;
}
