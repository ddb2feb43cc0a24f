/** The ledger's database server: an embedded one, or the one that DATABASE_URL names. One SQL dialect in both. */
import { createDatabase, dropDatabase, serverOf, withConnection } from "./database-server.js";
import { codeOf, messageOf, UserFacingError } from "./errors.js";
import { startPostgres, type PostgresInstance, type PostgresOptions } from "./postgres/embedded.js";
import type { Run } from "./run.js";

export interface Database {
  /** False for the server that DATABASE_URL names. */
  readonly embedded: boolean;
  /** A database of this run's own: for an embedded server `postgres`, else a new one, dropped when the run closes. */
  readonly url: string;
  readonly version: string;
  /** @returns the URL of a further database on the same server; it ends with the run too. */
  createDatabase(name: string): Promise<string>;
  /** The server itself, to kill and restart it; undefined when it isn't ours. */
  readonly server: PostgresInstance | undefined;
}

/** The first version with everything the ledger's SQL uses that is still tested; older ones are refused. */
const versionMin = 15;

/**
 * @param options for the embedded server; a server of one's own has its own settings.
 * @throws UserFacingError when DATABASE_URL is set and that server refuses, is too old or may not be used so.
 */
export async function startDatabase(run: Run, options: PostgresOptions): Promise<Database> {
  const given = process.env["DATABASE_URL"];
  if (given === undefined || given === "") {
    const server = await startPostgres(run, options);
    return {
      embedded: true,
      url: server.url,
      version: server.version,
      createDatabase: (name) => server.createDatabase(name),
      server,
    };
  }
  const { version } = await inspectServer(given);
  const create = async (name: string): Promise<string> => {
    const database = `killproof_${run.id}_${name}`.replaceAll("-", "_");
    // Written down first: a name that was never created is dropped just as well.
    run.journal({ made: "database", server: serverOf(given), database });
    const url = await createDatabase(given, database);
    run.onClose(`database ${database}`, () => dropDatabase(given, database));
    return url;
  };
  return {
    embedded: false,
    url: await create(options.name),
    version,
    createDatabase: create,
    server: undefined,
  };
}

/**
 * Can this server be used? It is asked, not assumed.
 *
 * @throws UserFacingError with what is wrong and what is needed; the password is not in it.
 */
export async function inspectServer(url: string): Promise<{ readonly version: string }> {
  const server = describeUrl(url);
  const row = await withConnection(url, async (client) => {
    const { rows } = await client.query<{ version: string; number: number; may_create: boolean }>(
      `select current_setting('server_version') as version,
              current_setting('server_version_num')::int as number,
              (rolcreatedb or rolsuper) as may_create
         from pg_roles where rolname = current_user`,
    );
    return rows[0];
  }).catch((error: unknown) => {
    throw new UserFacingError(`DATABASE_URL (${server}) ${causeOf(error)}`, 2, { cause: error });
  });
  if (row === undefined)
    throw new UserFacingError(`DATABASE_URL (${server}): the server doesn't know its own user`);
  if (Math.floor(row.number / 10_000) < versionMin) {
    throw new UserFacingError(
      `DATABASE_URL (${server}): Postgres ${row.version} is too old; ${versionMin} or newer is needed. ` +
        "Unset it to use the embedded server.",
    );
  }
  if (!row.may_create) {
    throw new UserFacingError(
      `DATABASE_URL (${server}): the user may not create databases, and each run makes its own. ` +
        "Grant it with: alter role … createdb. Or unset DATABASE_URL to use the embedded server.",
    );
  }
  return { version: row.version };
}

/** User, host, port and database: everything but the password. @throws UserFacingError when it is no such URL. */
function describeUrl(url: string): string {
  try {
    const { protocol, username, pathname } = new URL(url);
    if (protocol === "postgres:" || protocol === "postgresql:")
      return `${username}@${serverOf(url)}${pathname}`;
  } catch {
    // What can't be read as a URL is answered below, without the value: it may hold a password.
  }
  throw new UserFacingError(
    "DATABASE_URL is not a URL of the form postgres://user:password@host:port/database",
  );
}

/** SQLSTATE codes with which a server refuses a connection: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const refusals: Readonly<Record<string, string>> = {
  "28P01": "refuses the password",
  "28000": "refuses this user",
  "3D000": "has no such database",
  "53300": "has no connection left",
  "57P03": "is starting up or shutting down",
};

function causeOf(error: unknown): string {
  const code = codeOf(error) ?? "";
  const refusal = refusals[code];
  if (refusal !== undefined) return `${refusal}: ${messageOf(error)}.`;
  if (code === "ECONNREFUSED") return "can't be reached: nothing listens there.";
  return `can't be used: ${messageOf(error) || code}.`;
}
