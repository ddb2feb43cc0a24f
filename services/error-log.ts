/**
 * Errors in the logs of our processes. The logger's own serialiser copies every field of an error, and libraries put
 * much there: the Postgres driver the whole client and the content of the row that broke a constraint, HTTP clients
 * the request with its headers. So only fields that are known to be harmless are written.
 */

export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
  readonly errors?: readonly LoggedError[];
  readonly [field: string]: unknown;
}

/** Of Node and of the Postgres driver: what failed where, and never with which values. */
const harmless = [
  "code",
  "syscall",
  "address",
  "port",
  "severity",
  "schema",
  "table",
  "column",
  "constraint",
];

/** A cause of a cause of a cause says nothing more, and a chain may be a circle. */
const depthMax = 3;

/** For the key `err` of a log line. */
export function errorForLog(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { cause, errors } = error as Error & { readonly cause?: unknown; readonly errors?: unknown };
  const fields = error as unknown as Record<string, unknown>;
  const shown = harmless.filter((name) => ["string", "number"].includes(typeof fields[name]));
  return {
    type: error.name,
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...Object.fromEntries(shown.map((name) => [name, fields[name]])),
    ...(cause === undefined || depth >= depthMax ? {} : { cause: errorForLog(cause, depth + 1) }),
    ...(!Array.isArray(errors) || depth >= depthMax
      ? {}
      : { errors: errors.map((each: unknown) => errorForLog(each, depth + 1)) }),
  };
}
