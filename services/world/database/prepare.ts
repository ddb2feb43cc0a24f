/**
 * Makes the world's tables and its two roles, once per start, with the owner's credentials; the running world uses
 * only the two roles.
 */
import { createHash, randomBytes } from "node:crypto";
import pg from "pg";
import { grants, tables } from "./schema.js";

export interface WorldDatabase {
  /** May change the systems' state and append to the journal; may neither read nor change the journal. */
  readonly writerUrl: string;
  /** May read the journal and nothing else. */
  readonly judgeUrl: string;
}

/** Two worlds that are started at once on one database take turns here. Any number will do, but always the same. */
const prepareLock = 7_211_001;

/**
 * Safe to repeat: what is there stays, and the roles get new passwords, which only the caller learns.
 *
 * @param ownerUrl of an empty database, or of one prepared before; the role must be allowed to create roles.
 */
export async function prepareDatabase(ownerUrl: string): Promise<WorldDatabase> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: "world-prepare" });
  await client.connect();
  try {
    const { rows } = await client.query<{ database: string }>("select current_database() as database");
    const database = rows[0]!.database;
    const writer = { name: roleName("writer", database), password: randomBytes(24).toString("hex") };
    const judge = { name: roleName("judge", database), password: randomBytes(24).toString("hex") };
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [prepareLock]);
    for (const role of [writer, judge]) await createRole(client, role);
    await client.query(tables);
    await client.query(grants({ database, writer: writer.name, judge: judge.name }));
    await client.query("commit");
    return { writerUrl: withRole(ownerUrl, writer), judgeUrl: withRole(ownerUrl, judge) };
  } finally {
    await client.end();
  }
}

/** Roles belong to the whole server, so their names carry the database; the hash keeps them short enough. */
export function roleName(kind: "writer" | "judge", database: string): string {
  return `world_${kind}_${createHash("sha256").update(database).digest("hex").slice(0, 12)}`;
}

interface Role {
  readonly name: string;
  readonly password: string;
}

async function createRole(client: pg.Client, { name, password }: Role): Promise<void> {
  const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [name]);
  const verb = rowCount === 0 ? "create" : "alter";
  // Roles and passwords can't be parameters of a statement, so they are quoted.
  await client.query(
    `${verb} role ${client.escapeIdentifier(name)} login password ${client.escapeLiteral(password)}`,
  );
}

function withRole(ownerUrl: string, { name, password }: Role): string {
  const url = new URL(ownerUrl);
  url.username = name;
  url.password = password;
  return url.href;
}
