/** What has to be done on a Postgres server that we did not start: the one that DATABASE_URL names. */
import pg from "pg";

const connectMsMax = 5_000;

/** Host and port of a connection URL: which server it is, without who asks. */
export function serverOf(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  return `${searchParams.get("host") ?? hostname}:${port === "" ? "5432" : port}`;
}

/** Runs `use` on a connection of its own, which is closed whatever happens. */
export async function withConnection<Result>(
  url: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMsMax,
    application_name: "killproof-platform",
  });
  // Without a listener, a server that goes away while we are idle would end the whole process.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Creates a database and gives back its URL. */
export async function createDatabase(url: string, database: string): Promise<string> {
  await withConnection(url, (client) => client.query(`create database ${pg.escapeIdentifier(database)}`));
  const created = new URL(url);
  created.pathname = `/${encodeURIComponent(database)}`;
  return created.href;
}

/** Drops a database with whoever is still connected to it; fine when it isn't there. */
export async function dropDatabase(url: string, database: string): Promise<void> {
  await withConnection(url, (client) =>
    client.query(`drop database if exists ${pg.escapeIdentifier(database)} with (force)`),
  );
}
