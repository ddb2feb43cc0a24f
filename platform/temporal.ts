/** A Temporal server for the run: started as its child, or the one that TEMPORAL_ADDRESS names. */
import {
  InvalidServerSetting,
  NoTemporalServer,
  resolveTemporalServer,
} from "../adapters/temporal/server/index.js";
import type { ResolvedServer } from "../adapters/temporal/server/index.js";
import { messageOf, UserFacingError } from "./errors.js";
import type { ManagedProcess, ProcessSpec } from "./managed-process.js";
import { freePort, requirePort } from "./ports.js";
import type { Run } from "./run.js";
import { runMarker } from "./run-journal.js";
import { addSearchAttributes, describe, isServing, searchAttributes } from "./temporal-api.js";

export interface TemporalOptions {
  readonly name: string;
  /** Server settings by key, `{ "history.timerProcessorMaxTimeShift": "1ms" }`. Not for a server that isn't ours. */
  readonly dynamicConfig?: Readonly<Record<string, string | number | boolean>>;
  /** Keeps workflows over `kill` and `restart`. Without it they are in memory and gone with the process. */
  readonly databaseFile?: string;
  /** The time-skipping test server instead of the development server; it has no UI and no database file. */
  readonly timeSkipping?: boolean;
  /** Also serve Temporal's web UI; default false. */
  readonly ui?: boolean;
  /** Ports that a person named; free ones by default. */
  readonly port?: number;
  readonly uiPort?: number;
}

export interface TemporalServer {
  /** host:port of the gRPC service. It stays the same over `restart`. */
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl?: string;
  /** Where the program came from, or `address` for a server that isn't ours. */
  readonly source: ResolvedServer["source"];
  /** The server's own version. */
  readonly version: string;
  /** False for a server that isn't ours: it has its own settings, and can't be killed or restarted. */
  readonly owned: boolean;
  /** SIGKILL; resolves when it has ended. @throws UserFacingError for a server that isn't ours. */
  kill(): Promise<void>;
  /** Starts it again on the same port (and database file); stops it first when it runs. */
  restart(): Promise<void>;
  /** Does nothing to a server that isn't ours. */
  stop(): Promise<void>;
}

/** A port chosen here may be taken by someone else before the server has it. */
const portTriesMax = 5;
/** It is ready in 0.2 s; a minute is for a machine that builds something at the same time. */
const readyMsMax = 60_000;

/** @throws UserFacingError when there is no server to be had, or the named one can't be used. */
export async function startTemporal(run: Run, options: TemporalOptions): Promise<TemporalServer> {
  const resolved = await resolve(run, options);
  if (resolved.source === "address") return useServer(resolved.address);
  const namespace = "default";
  const uiPort = await portForUi(options);
  for (let tries = 1; ; tries += 1) {
    const port =
      options.port === undefined
        ? await freePort()
        : await requirePort(options.port, `Temporal ${options.name}`);
    const server = new OwnServer(run, options, resolved, namespace, port, uiPort);
    try {
      await server.start();
      return server;
    } catch (error) {
      const portWasTaken = /address already in use|BindException|can't set port/i.test(messageOf(error));
      if (!portWasTaken || options.port !== undefined || tries >= portTriesMax) throw error;
    }
  }
}

async function resolve(run: Run, options: TemporalOptions): Promise<ResolvedServer> {
  try {
    return await resolveTemporalServer(options.timeSkipping ? "timeSkippingServer" : "devServer", {
      // With the marker, a download that is under way ends with the run too.
      environment: { ...process.env, [runMarker]: run.id },
      notice: (line) => run.notice(line),
    });
  } catch (error) {
    if (error instanceof NoTemporalServer || error instanceof InvalidServerSetting) {
      throw new UserFacingError(error.message, 2, { cause: error });
    }
    throw error;
  }
}

async function portForUi(options: TemporalOptions): Promise<number | undefined> {
  if (!options.ui || options.timeSkipping) return undefined;
  return options.uiPort === undefined ? freePort() : requirePort(options.uiPort, "Temporal's web UI");
}

class OwnServer implements TemporalServer {
  readonly owned = true;
  readonly address: string;
  readonly uiUrl?: string;
  readonly source: ResolvedServer["source"];
  version: string;
  #process: ManagedProcess | undefined;

  constructor(
    private readonly run: Run,
    private readonly options: TemporalOptions,
    private readonly resolved: Exclude<ResolvedServer, { source: "address" }>,
    readonly namespace: string,
    private readonly port: number,
    private readonly uiPort: number | undefined,
  ) {
    this.address = `127.0.0.1:${port}`;
    this.source = resolved.source;
    this.version = resolved.version;
    if (uiPort !== undefined) this.uiUrl = `http://127.0.0.1:${uiPort}`;
  }

  async start(): Promise<void> {
    this.#process = await this.run.spawn({
      name: `temporal-${this.options.name}`,
      command: [this.resolved.path, ...this.#arguments()],
      // It notes at home when it last looked for a newer version; that is to go with the run.
      env: { HOME: this.run.folder, XDG_CONFIG_HOME: this.run.folder },
      ready: { probe: () => isServing(this.address, this.namespace) },
      readyTimeoutMs: readyMsMax,
    } satisfies ProcessSpec);
    this.version = (await describe(this.address, this.namespace)).serverVersion || this.resolved.version;
  }

  async kill(): Promise<void> {
    await this.#process?.kill("SIGKILL");
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  #arguments(): string[] {
    if (this.options.timeSkipping) return [String(this.port), "--enable-time-skipping"];
    const { databaseFile, dynamicConfig = {} } = this.options;
    return [
      "server",
      "start-dev",
      "--ip=127.0.0.1",
      `--port=${this.port}`,
      `--namespace=${this.namespace}`,
      "--log-level=warn",
      ...(this.uiPort === undefined ? ["--headless"] : ["--ui-port", String(this.uiPort)]),
      ...(databaseFile === undefined ? [] : ["--db-filename", databaseFile]),
      ...Object.entries(searchAttributes).flatMap(([name, type]) => [
        "--search-attribute",
        `${name}=${type}`,
      ]),
      ...Object.entries(dynamicConfig).flatMap(([key, value]) => [
        "--dynamic-config-value",
        `${key}=${JSON.stringify(value)}`,
      ]),
    ];
  }
}

async function useServer(address: string): Promise<TemporalServer> {
  const namespace = process.env["TEMPORAL_NAMESPACE"] || "default";
  let version: string;
  try {
    version = (await describe(address, namespace)).serverVersion;
    await addSearchAttributes(address, namespace);
  } catch (error) {
    throw new UserFacingError(
      `TEMPORAL_ADDRESS is "${address}", but the Temporal server there can't be used with the namespace ` +
        `"${namespace}": ${messageOf(error).replace(/\.$/, "")}. Unset it to have a server started.`,
      2,
      { cause: error },
    );
  }
  const notOurs = async (): Promise<never> => {
    throw new UserFacingError(
      `the Temporal server at ${address} isn't ours to kill or restart; unset TEMPORAL_ADDRESS`,
    );
  };
  return {
    address,
    namespace,
    version,
    source: "address",
    owned: false,
    kill: notOurs,
    restart: notOurs,
    stop: async () => undefined,
  };
}
