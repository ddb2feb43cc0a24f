/** A world of one's own for a test file: in this process, over real HTTP, on a database of its own. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { pino } from "pino";
import { inject } from "vitest";
import { createWorldControl, type WorldControl } from "../../scenarios/world/control.js";
import { createWorldJournal, type WorldJournal } from "../../scenarios/world/journal.js";
import { roleName } from "../../services/world/database/prepare.js";
import { readSettings } from "../../services/world/settings.js";
import { startWorld, type World } from "../../services/world/world.js";

export const worldSecrets = {
  WORLD_ACCOUNTING_API_KEY: "accounting-key-of-the-tests",
  WORLD_DOCUMENTS_API_KEY: "documents-key-of-the-tests",
  WORLD_MAIL_API_KEY: "mail-key-of-the-tests",
  WORLD_CONTROL_TOKEN: "control-token-of-the-tests",
  WORLD_JUDGE_TOKEN: "judge-token-of-the-tests",
} as const;

export interface TestWorld {
  readonly world: World;
  readonly control: WorldControl;
  readonly journal: WorldJournal;
  /** With the rights of the database's owner: for looking at the systems' state. */
  readonly owner: pg.Pool;
  readonly databaseUrl: string;
  baseUrl(listener: keyof World["ports"]): string;
  /** A new run's token. */
  newRun(): string;
  /** Stops the world and drops its database and roles. Safe to call after `world.close()`. */
  dispose(): Promise<void>;
}

export interface TestWorldOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Gets each log line. */
  readonly onLog?: (line: string) => void;
}

export async function startTestWorld({ settings = {}, onLog }: TestWorldOptions = {}): Promise<TestWorld> {
  const database = await createDatabase();
  const logger = pino({ level: onLog === undefined ? "silent" : "info" }, { write: (line) => onLog?.(line) });
  const environment = { WORLD_DATABASE_URL: database.url, ...worldSecrets, ...settings };
  const world = await startWorld(readSettings(environment), logger).catch(async (error: unknown) => {
    await database.drop();
    throw error;
  });
  const owner = new pg.Pool({ connectionString: database.url, max: 2 });
  const baseUrl = (listener: keyof World["ports"]) => `http://127.0.0.1:${world.ports[listener]}`;
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= world.close());
  return {
    world: { ...world, close },
    control: createWorldControl({ baseUrl: baseUrl("control"), token: worldSecrets.WORLD_CONTROL_TOKEN }),
    journal: createWorldJournal({ baseUrl: baseUrl("control"), judgeToken: worldSecrets.WORLD_JUDGE_TOKEN }),
    owner,
    databaseUrl: database.url,
    baseUrl,
    newRun: () => `r${randomBytes(5).toString("hex")}`,
    dispose: async () => {
      await close();
      await owner.end();
      await database.drop();
    },
  };
}

/** An empty database, and the end of it and of the world's roles in it. */
export async function createDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const serverUrl = inject("postgresUrl");
  const name = `world_test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await withServer(serverUrl, (server) => server.query(`create database ${name}`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () =>
      withServer(serverUrl, async (server) => {
        await server.query(`drop database if exists ${name} with (force)`);
        for (const kind of ["writer", "judge"] as const) {
          await server.query(`drop role if exists ${roleName(kind, name)}`);
        }
      }),
  };
}

async function withServer(serverUrl: string, work: (server: pg.Client) => Promise<unknown>): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  try {
    await work(server);
  } finally {
    await server.end();
  }
}
