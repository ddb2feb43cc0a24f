/**
 * The real Postgres server as a child of the run. Its own processes each make a session of their own, so killing
 * it means killing the tree: a backend that is left alive would keep the data folder from being used again.
 */
import { randomBytes } from "node:crypto";
import { createDatabase } from "../database-server.js";
import { messageOf } from "../errors.js";
import type { ManagedProcess } from "../managed-process.js";
import { freePort, requirePort } from "../ports.js";
import type { Run } from "../run.js";
import { unprivilegedAccount, type Account } from "./account.js";
import { findBinaries, type BinariesOptions, type PostgresBinaries } from "./binaries.js";
import { initialise, makeDataFolder, superuser } from "./data-folder.js";

export interface PostgresOptions extends BinariesOptions {
  readonly name: string;
  /** Server settings over the defaults; `{ fsync: "off" }` where nothing is killed. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A port that a person named; a free one by default. */
  readonly port?: number;
}

export interface PostgresInstance {
  readonly name: string;
  /** The superuser's URL of the database `postgres`. It stays the same over `restart`. */
  readonly url: string;
  readonly port: number;
  readonly version: string;
  /** Where its programs are, and whether that is a copy made because the package's folder couldn't be used. */
  readonly binariesFolder: string;
  readonly copied: boolean;
  readonly logFile: string;
  /** The process that owns all others of this server; another one after `restart`. */
  readonly pid: number;
  /** @returns the new database's URL. */
  createDatabase(name: string): Promise<string>;
  /** SIGKILL to the server and every backend at once; resolves when all have ended. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port; stops it first when it runs. */
  restart(): Promise<void>;
  /** Ends transactions and connections, writes everything and ends ("fast shutdown"). */
  stop(): Promise<void>;
}

/**
 * One SQL dialect and real crash behaviour, at the size of a test: the defaults that differ from a production
 * server differ for a reason.
 */
const defaultSettings: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  // A socket's path may have 107 bytes, which a deep project folder exceeds; all clients here use TCP anyway.
  unix_socket_directories: "",
  // In the data folder, where it is removed with everything else after a kill; /dev/shm keeps it.
  dynamic_shared_memory_type: "mmap",
  // Worker, relay, API, lab and test pools of several processes together; the default of 100 is soon used up.
  max_connections: "300",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] %q%a ",
};

const readyLine = "database system is ready to accept connections";
/** Recovery after a kill replays what was written since the last checkpoint; seconds, on a loaded machine. */
const readyMsMax = 60_000;
/** So often a port chosen here was taken by someone else before Postgres got it: then something else is wrong. */
const portTriesMax = 5;
/** SIGINT is Postgres's "fast shutdown": open transactions end, everything is written. */
const fastShutdown = "SIGINT";

/** Starts a private server. @throws UserFacingError */
export async function startPostgres(run: Run, options: PostgresOptions): Promise<PostgresInstance> {
  const account = await unprivilegedAccount();
  const binaries = await findBinaries(account, options);
  const folder = await makeDataFolder(run, options.name, account);
  const password = randomBytes(18).toString("base64url");
  const data = await initialise(binaries, account, folder, password, run.id);
  const server = new EmbeddedPostgres(run, options, account, binaries, data, password);
  await server.start();
  return server;
}

class EmbeddedPostgres implements PostgresInstance {
  #process: ManagedProcess | undefined;
  #port: number | undefined;

  constructor(
    private readonly run: Run,
    private readonly options: PostgresOptions,
    private readonly account: Account | undefined,
    private readonly binaries: PostgresBinaries,
    private readonly data: string,
    private readonly password: string,
  ) {}

  get name(): string {
    return this.options.name;
  }

  get version(): string {
    return this.binaries.version;
  }

  get binariesFolder(): string {
    return this.binaries.folder;
  }

  get copied(): boolean {
    return this.binaries.copied;
  }

  get port(): number {
    if (this.#port === undefined) throw new Error(`Postgres ${this.name} was never started`);
    return this.#port;
  }

  get url(): string {
    return `postgres://${superuser}:${this.password}@127.0.0.1:${this.port}/postgres`;
  }

  get pid(): number {
    return this.#current().pid;
  }

  get logFile(): string {
    return this.#current().logFile;
  }

  async start(): Promise<void> {
    if (this.options.port !== undefined) {
      this.#port = await requirePort(this.options.port, `Postgres ${this.name}`);
      this.#process = await this.#spawn(this.#port);
      return;
    }
    for (let tries = 1; this.#process === undefined; tries += 1) {
      const port = await freePort();
      try {
        this.#process = await this.#spawn(port);
        this.#port = port;
      } catch (error) {
        if (tries >= portTriesMax || !messageOf(error).includes("Address already in use")) throw error;
      }
    }
  }

  createDatabase(name: string): Promise<string> {
    return createDatabase(this.url, name);
  }

  async kill(): Promise<void> {
    await this.#current().kill("SIGKILL");
  }

  async restart(): Promise<void> {
    await this.stop();
    this.#process = await this.#spawn(this.port);
  }

  async stop(): Promise<void> {
    await this.#current().stop();
  }

  #current(): ManagedProcess {
    if (this.#process === undefined) throw new Error(`Postgres ${this.name} was never started`);
    return this.#process;
  }

  #spawn(port: number): Promise<ManagedProcess> {
    const settings = { ...defaultSettings, ...this.options.settings, port: String(port) };
    return this.run.spawn({
      name: `postgres-${this.name}`,
      command: [
        this.binaries.postgres,
        "-D",
        this.data,
        ...Object.entries(settings).flatMap(([setting, value]) => ["-c", `${setting}=${value}`]),
      ],
      // Our environment means nothing to it, and PGDATA and the like would mislead it.
      inheritEnv: false,
      env: { LC_ALL: "C" },
      cwd: "/",
      ...(this.account === undefined ? {} : { account: { uid: this.account.uid, gid: this.account.gid } }),
      ready: (line) => line.includes(readyLine),
      readyTimeoutMs: readyMsMax,
      stopSignal: fastShutdown,
    });
  }
}
