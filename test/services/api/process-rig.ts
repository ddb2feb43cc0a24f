/** The API as a process on a ledger of its own, with taps on its connections where a test wants to kill it there. */
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { openHttpTap } from "../../../crash-lab/taps/http/http-tap.js";
import { openPostgresTap } from "../../../crash-lab/taps/postgres/postgres-tap.js";
import { forward, type BoundaryEvent, type Decision } from "../../../crash-lab/taps/event.js";
import { openLedger, type Ledger } from "../../../adapters/ledger/database.js";
import { migrate } from "../../../adapters/ledger/migrate.js";
import {
  openRun,
  startPostgres,
  type ManagedProcess,
  type PostgresInstance,
  type Run,
} from "../../../platform/index.js";

export interface RunningApi {
  readonly process: ManagedProcess;
  readonly url: string;
}

export interface TappedApi extends RunningApi {
  closeTaps(): Promise<void>;
}

export interface ApiSpec {
  readonly name: string;
  readonly ledgerUrl: string;
  /** As the callers' file holds them. */
  readonly callers: readonly object[];
  /** Over the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function spawnApi(run: Run, spec: ApiSpec): Promise<RunningApi> {
  const callersFile = join(run.folder, `callers-${spec.name}.json`);
  await writeFile(callersFile, JSON.stringify({ callers: spec.callers }));
  const process = await run.spawn({
    name: spec.name,
    entry: "services/api/main.js",
    env: {
      LEDGER_URL: spec.ledgerUrl,
      API_CALLERS_FILE: callersFile,
      INVOICE_POLICY_FILE: resolve("scenarios/invoice-approval/policy.production.json"),
      // The limit is for other tests.
      API_OPEN_BATCHES_MAX: "1000",
      API_NAME: spec.name,
      ...spec.settings,
    },
  });
  return { process, url: `http://127.0.0.1:${String(process.ready["port"])}` };
}

const routes = [
  "POST /api/invoice-batches",
  "GET /api/invoice-batches/{batchId}",
  "GET /api/reviews/{reviewId}",
  "POST /api/reviews/{reviewId}/decisions",
];

/** The same, with a tap on each of its connections. */
export async function spawnTappedApi(
  run: Run,
  spec: ApiSpec,
  decide: (event: BoundaryEvent) => Decision | Promise<Decision>,
): Promise<TappedApi> {
  const controller = { decide };
  const server = new URL(spec.ledgerUrl);
  const upstream = { host: server.hostname, port: Number(server.port) };
  const postgresTap = await openPostgresTap({ process: spec.name, controller, upstream });
  const tapped = new URL(spec.ledgerUrl);
  tapped.host = `127.0.0.1:${postgresTap.port}`;
  const { process, url } = await spawnApi(run, { ...spec, ledgerUrl: tapped.href });
  const ingress = await openHttpTap({
    process: spec.name,
    name: "ingress",
    controller,
    upstream: url,
    routes,
  });
  return {
    process,
    url: `http://127.0.0.1:${ingress.port}`,
    closeTaps: async () => void (await Promise.all([ingress.close(), postgresTap.close()])),
  };
}

export interface ProcessRig {
  readonly run: Run;
  readonly postgres: PostgresInstance;
  readonly ledgerUrl: string;
  readonly ledger: Ledger;
}

/** A run with a migrated ledger of its own. Call once at the top of a test file. */
export function processRig(): ProcessRig {
  let run: Run;
  let postgres: PostgresInstance;
  let ledgerUrl: string;
  let ledger: Ledger;

  beforeAll(async () => {
    run = await openRun({ name: "test-api", handleSignals: false });
    postgres = await startPostgres(run, { name: "ledger" });
    ledgerUrl = await postgres.createDatabase("ledger");
    await migrate({ url: ledgerUrl });
    ledger = openLedger({
      url: ledgerUrl,
      applicationName: "test",
      poolSize: 2,
      onIdleConnectionLost: () => undefined,
    });
  });
  afterAll(async () => {
    await ledger?.destroy();
    await run?.close();
  });

  return {
    get run() {
      return run;
    },
    get postgres() {
      return postgres;
    },
    get ledgerUrl() {
      return ledgerUrl;
    },
    get ledger() {
      return ledger;
    },
  };
}

export interface Told {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** What a caller was told; `null` when the connection broke before there was an answer. */
export async function ask(url: string, apiKey: string, init: RequestInit = {}): Promise<Told | null> {
  try {
    const response = await fetch(url, {
      ...init,
      headers: {
        ...(init.headers as Record<string, string> | undefined),
        Authorization: `Bearer ${apiKey}`,
        "Content-Type": "application/json",
      },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch (error) {
    // `fetch` has one error for all that can happen to a connection.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Kills the API at one of the windows of a request: places between two messages at which it can die. */
export class WindowKiller {
  /** Those that were passed, in their order. */
  readonly windows: string[] = [];
  #victim: ManagedProcess | undefined;

  /**
   * @param killAt which window it is; never true when nothing is to be killed
   * @param deliverLast let the answer through that was held at the kill: then a dead process tells the caller
   */
  constructor(
    readonly killAt: (event: BoundaryEvent, index: number) => boolean,
    readonly deliverLast = false,
  ) {}

  /** From here on; what the process sends while it starts is no window of a request. */
  watch(victim: ManagedProcess): void {
    this.#victim = victim;
  }

  readonly decide = async (event: BoundaryEvent): Promise<Decision> => {
    if (this.#victim === undefined || event.attribution === "service" || event.noWindow !== null)
      return forward;
    const index = this.windows.push(`${event.tap} ${event.label} ${event.side}`) - 1;
    if (!this.killAt(event, index)) return forward;
    await this.#victim.kill("SIGKILL");
    return this.deliverLast ? forward : { do: "drop" };
  };
}
