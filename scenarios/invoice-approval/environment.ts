/**
 * Everything the invoice story needs around its worker: the ledger's database, Temporal, the outside world with a
 * database server of its own, and the workflow bundle. Started inside a run, gone with it.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { openLedger, type Ledger } from "../../adapters/ledger/database.js";
import { migrate } from "../../adapters/ledger/migrate.js";
import { openTemporalClient } from "../../adapters/temporal/client.js";
import {
  checkServerSettings,
  packageRoot,
  startDatabase,
  startPostgres,
  startTemporal,
  type Database,
  type ProcessSpec,
  type Run,
  type TemporalServer,
} from "../../platform/index.js";
import { bundleWorkflows } from "../../services/worker/bundle.js";
import { startWorldProcess, type RunningWorld } from "../world/process.js";
import { openOffice, type Office } from "./office.js";
import { demoPolicy } from "./policy.js";

export interface InvoiceEnvironment {
  readonly database: Database;
  readonly ledgerUrl: string;
  /** For whoever looks on: no process under test uses this connection. */
  readonly ledger: Ledger;
  readonly temporal: TemporalServer;
  readonly client: Client;
  readonly world: RunningWorld;
  /** Made once, used by every worker. */
  readonly bundlePath: string;
  /** Of an environment beside the first: its number, from 2. */
  readonly lane?: number;
  /** Who works with it. */
  readonly office: Office;
}

export interface InvoiceEnvironmentOptions {
  /** Also serve Temporal's web interface; default false. */
  readonly ui?: boolean;
  /** Settings of the ledger's own database server, `{ log_statement: "all" }`. One that was given keeps its own. */
  readonly databaseSettings?: Readonly<Record<string, string>>;
  /** One line when a part is there. */
  readonly progress?: (line: string) => void;
}

/**
 * Settings of the dev server that only make recovery quicker to watch: by default it batches timers and so notices a
 * dead worker up to a second late. A server that isn't ours keeps its own.
 */
export const quickServer = { "history.timerProcessorMaxTimeShift": "1ms" } as const;

/** Connections for looking on; the workers under test need the server's others. */
const onlookersMax = 2;

/** Where the outside world keeps its data is none of the ledger's business: killing ours must never touch it. */
const worldServerName = "world-postgres";

/** @throws UserFacingError when a part can't be had */
export async function startInvoiceEnvironment(
  run: Run,
  { ui = false, databaseSettings, progress = () => undefined }: InvoiceEnvironmentOptions = {},
): Promise<InvoiceEnvironment> {
  await checkServerSettings();
  const bundlePath = join(run.folder, "workflow-bundle.js");
  const [{ database, ledgerUrl, ledger }, world, { temporal, client }] = await allOrFirstFailure([
    startLedger(run, databaseSettings).then((started) => {
      progress(`Postgres ${started.database.version} holds our ledger.`);
      return started;
    }),
    startWorld(run).then((started) => {
      progress("The outside world runs: accounting, documents, mail, each with its own journal.");
      return started;
    }),
    startServer(run, ui).then((server) => {
      progress(`Temporal ${server.temporal.version} runs at ${server.temporal.address}.`);
      return server;
    }),
    bundleWorkflows(bundlePath),
  ]);
  const office = await openOffice(run.folder);
  return { database, ledgerUrl, ledger, temporal, client, world, bundlePath, office };
}

/**
 * A second place for the same story on the same servers, with a ledger of its own, so that what is done to the
 * processes of one place is never felt in the other. Its processes need a task queue of their own, too.
 *
 * @param lane tells the places apart
 */
export async function invoiceEnvironmentBeside(
  first: InvoiceEnvironment,
  run: Run,
  lane: number,
): Promise<InvoiceEnvironment> {
  // One environment may serve several labs, and each opens lanes of its own.
  const ledgerUrl = await first.database.createDatabase(`ledger_${lane}_${randomBytes(4).toString("hex")}`);
  return { ...first, lane, ledgerUrl, ledger: await openOnlooker(run, ledgerUrl) };
}

async function startLedger(
  run: Run,
  settings: Readonly<Record<string, string>> | undefined,
): Promise<{ database: Database; ledgerUrl: string; ledger: Ledger }> {
  const database = await startDatabase(run, { name: "ledger", ...(settings ? { settings } : {}) });
  return { database, ledgerUrl: database.url, ledger: await openOnlooker(run, database.url) };
}

/** Brings the schema up to date, and looks on. */
async function openOnlooker(run: Run, url: string): Promise<Ledger> {
  await migrate({ url });
  const ledger = openLedger({ url, applicationName: "onlooker", poolSize: onlookersMax });
  run.onClose("onlooker at the ledger", () => ledger.destroy());
  return ledger;
}

async function startWorld(run: Run): Promise<RunningWorld> {
  const server = await startPostgres(run, { name: worldServerName });
  return startWorldProcess(run, { databaseUrl: await server.createDatabase("world") });
}

async function startServer(run: Run, ui: boolean): Promise<{ temporal: TemporalServer; client: Client }> {
  const temporal = await startTemporal(run, { name: "temporal", dynamicConfig: quickServer, ui });
  const client = await openTemporalClient({
    address: temporal.address,
    namespace: temporal.namespace,
    identity: `${run.id}@${process.pid}`,
  });
  // Never closed: a call that waits when the run closes is tried again by the client, and on a closed channel that
  // ends the process with an error. An idle channel keeps no process alive.
  return { temporal, client };
}

/** Like `Promise.all`, but waits for all of them, so that what still starts is known before the run closes. */
async function allOrFirstFailure<Parts extends readonly unknown[]>(
  parts: readonly [...{ [Index in keyof Parts]: Promise<Parts[Index]> }],
): Promise<Parts> {
  await Promise.allSettled(parts);
  return (await Promise.all(parts)) as unknown as Parts;
}

/** Where a worker finds its peers: the real ones, or what stands in front of them. */
export interface WorkerPeers {
  readonly temporalAddress: string;
  readonly ledgerUrl: string;
  readonly accountingUrl: string;
  readonly documentsUrl: string;
}

export function directPeers({ temporal, ledgerUrl, world }: InvoiceEnvironment): WorkerPeers {
  return {
    temporalAddress: temporal.address,
    ledgerUrl,
    accountingUrl: world.accounting.baseUrl,
    documentsUrl: world.documents.baseUrl,
  };
}

export const workerEntries = {
  safe: "services/worker/main.js",
  naive: "scenarios/invoice-approval/naive/worker.js",
} as const;

export interface WorkerOptions {
  readonly entry: string;
  readonly name: string;
  readonly taskQueue: string;
  readonly peers: WorkerPeers;
}

/** A worker process as the demo and the lab start it: the production program with quick settings. */
export function workerSpec(environment: InvoiceEnvironment, options: WorkerOptions): ProcessSpec {
  const { temporal, world, bundlePath } = environment;
  const { peers } = options;
  return {
    name: options.name,
    entry: options.entry,
    env: {
      TEMPORAL_ADDRESS: peers.temporalAddress,
      TEMPORAL_NAMESPACE: temporal.namespace,
      TEMPORAL_TASK_QUEUE: options.taskQueue,
      LEDGER_URL: peers.ledgerUrl,
      ACCOUNTING_URL: peers.accountingUrl,
      ACCOUNTING_API_KEY: world.accounting.apiKey,
      ACCOUNTING_SETTLE_MS: String(demoPolicy.accounting.settleMs),
      ACCOUNTING_PARK_AFTER_MS: String(demoPolicy.accounting.parkAfterMs),
      DOCUMENTS_URL: peers.documentsUrl,
      DOCUMENTS_API_KEY: world.documents.apiKey,
      SUPPLIERS_FILE: join(packageRoot(), "scenarios", "invoice-approval", "suppliers.json"),
      WORKER_NAME: options.name,
      WORKER_PROFILE: "quick",
      WORKFLOW_BUNDLE: bundlePath,
    },
  };
}
