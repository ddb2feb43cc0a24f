/** The outside world: three other companies' systems, their database, and the back door to them. */
import type { AddressInfo } from "node:net";
import pg from "pg";
import type { Logger } from "pino";
import { registerAccounting } from "./accounting/routes.js";
import { createControlServer } from "./control/routes.js";
import { prepareDatabase } from "./database/prepare.js";
import { registerDocuments } from "./documents/routes.js";
import { loadFolder } from "./documents/store.js";
import { FaultBook } from "./faults/book.js";
import { createProviderServer } from "./http/provider.js";
import type { WorldServer } from "./http/server.js";
import { Journal } from "./journal/append.js";
import { registerMail } from "./mail/routes.js";
import type { Settings } from "./settings.js";
import { Work } from "./work.js";

export interface World {
  readonly ports: {
    readonly accounting: number;
    readonly documents: number;
    readonly mail: number;
    readonly control: number;
  };
  /** Takes no new requests, finishes those under way (late commits at once), then lets go of the database. */
  close(): Promise<void>;
}

/** Each request needs a connection for moments only; commits take turns anyway. */
const writerConnectionsMax = 8;
/** The judge's waiting readers hold none. */
const judgeConnectionsMax = 4;

/** A client that doesn't read its answer may not keep the world from ending. */
const drainMsMax = 5_000;

/** @throws when the database can't be prepared, the folder can't be read or a port is taken. */
export async function startWorld(settings: Settings, logger: Logger): Promise<World> {
  const urls = await prepareDatabase(settings.WORLD_DATABASE_URL);
  const pool = openPool(urls.writerUrl, "world", writerConnectionsMax, logger);
  const judge = openPool(urls.judgeUrl, "world-judge", judgeConnectionsMax, logger);
  const work = new Work();
  const book = new FaultBook();
  const journal = new Journal(pool);
  const dependencies = { journal, book, work, pool };

  const accounting = createProviderServer("accounting", {
    apiKey: settings.WORLD_ACCOUNTING_API_KEY,
    logger,
    work,
  });
  registerAccounting(accounting, dependencies);
  const documents = createProviderServer("documents", {
    apiKey: settings.WORLD_DOCUMENTS_API_KEY,
    logger,
    work,
  });
  registerDocuments(documents, dependencies);
  const mail = createProviderServer("mail", {
    apiKey: settings.WORLD_MAIL_API_KEY,
    logger,
    work,
  });
  registerMail(mail, dependencies);
  const control = createControlServer({
    controlToken: settings.WORLD_CONTROL_TOKEN,
    judgeToken: settings.WORLD_JUDGE_TOKEN,
    clientKeys: [
      settings.WORLD_ACCOUNTING_API_KEY,
      settings.WORLD_DOCUMENTS_API_KEY,
      settings.WORLD_MAIL_API_KEY,
    ],
    judge,
    journal,
    book,
    work,
    logger,
  });
  const servers = [accounting, documents, mail, control];

  const close = async () => {
    const closed = Promise.all(servers.map((server) => server.close()));
    if (!(await work.finish(drainMsMax))) logger.warn({ event: "drain-cut-short", drainMsMax });
    // What is still connected has nothing open: kept alive, or connected without ever asking.
    for (const { server } of servers) server.closeAllConnections();
    await closed;
    await Promise.all([pool.end(), judge.end()]);
  };

  try {
    if (settings.WORLD_DOCUMENTS_FOLDER !== undefined) {
      const count = await loadFolder(journal, settings.WORLD_DOCUMENTS_FOLDER);
      logger.info({ event: "documents-loaded", count });
    }
    const host = settings.WORLD_LISTEN_ADDRESS;
    const ports = {
      accounting: await listen(accounting, host, settings.WORLD_ACCOUNTING_PORT),
      documents: await listen(documents, host, settings.WORLD_DOCUMENTS_PORT),
      mail: await listen(mail, host, settings.WORLD_MAIL_PORT),
      control: await listen(control, host, settings.WORLD_CONTROL_PORT),
    };
    return { ports, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function openPool(connectionString: string, name: string, max: number, logger: Logger): pg.Pool {
  const pool = new pg.Pool({ connectionString, application_name: name, max });
  // An idle connection that breaks is replaced at the next use; unheard, the event would end the process.
  pool.on("error", (error) => logger.warn({ err: error, pool: name }, "idle database connection broke"));
  return pool;
}

async function listen(server: WorldServer, host: string, port: number): Promise<number> {
  await server.listen({ host, port });
  return (server.server.address() as AddressInfo).port;
}
