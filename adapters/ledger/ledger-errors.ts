import { describeUrl } from "./database.js";

/** The ledger's database can't be reached or doesn't let us in. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}

/** The server is too old to keep what the ledger promises. */
export class LedgerTooOld extends Error {
  override readonly name = "LedgerTooOld";
}

/** The schema and this version of the code don't fit together. */
export class LedgerSchemaMismatch extends Error {
  override readonly name = "LedgerSchemaMismatch";
}

const helpByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Nothing listens there: is Postgres running, and are host and port right?",
  ENOTFOUND: "The host name is not known: is it spelled right?",
  EAI_AGAIN: "The name server didn't answer: is the network up?",
  EHOSTUNREACH: "The host can't be reached: is the network up?",
  ENETUNREACH: "The network can't be reached: is it up?",
  ETIMEDOUT: "The host didn't answer: does a firewall stand between?",
  "28P01": "The password is wrong.",
  "28000": "The server doesn't let this user in from here (see pg_hba.conf).",
  "3D000": "The database doesn't exist: create it first.",
  "42501": "The user lacks the right to do this.",
  "53300": "The server has no connection left: use smaller pools or raise max_connections.",
  "57P03": "The server is starting or stopping: wait for it.",
  "22023":
    "The server refuses one of our settings: is it Postgres 15 or newer, and no pooler that drops settings?",
  "42704": "The server doesn't know one of our settings: is it Postgres 15 or newer?",
};

/**
 * Turns a failure to connect into an error that names the address (without its password), what went wrong and
 * what would help. Anything else that went wrong at that point is kept as the cause.
 */
export function explainConnectionFailure(error: unknown, url: string, meaning?: string): LedgerUnavailable {
  const { code = "", message } = flatten(error);
  const help = helpByCode[code] ?? meaning ?? "See the cause.";
  return new LedgerUnavailable(`The ledger at ${describeUrl(url)} can't be used: ${message}. ${help}`, {
    cause: error,
  });
}

/** Node tries each address of a name and reports an `AggregateError` with an empty message. */
function flatten(error: unknown): { code?: string; message: string } {
  const { code, message, errors } = error as { code?: string; message?: string; errors?: readonly Error[] };
  const parts = errors?.map((part) => part.message) ?? [];
  const text = message === undefined || message === "" ? parts.join("; ") : message;
  return { ...(code === undefined ? {} : { code }), message: text === "" ? String(error) : text };
}
