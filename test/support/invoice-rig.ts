/**
 * Everything the invoice process runs on, for a test file: a Temporal server, the real ledger, the outside world over
 * HTTP, and workers with the production activities, of which a test may exchange some.
 */
import { randomBytes } from "node:crypto";
import type { Client } from "@temporalio/client";
import { DefaultLogger, Runtime, type NativeConnection } from "@temporalio/worker";
import { afterAll, beforeAll, inject } from "vitest";
import type { InvoiceActivities } from "../../activities/invoice-approval/index.js";
import type { Accounting } from "../../activities/ports.js";
import { openTemporalClient } from "../../adapters/temporal/client.js";
import { openWorkerConnection } from "../../adapters/temporal/connection.js";
import { demoPolicy, type InvoiceScenarioPolicy } from "../../scenarios/invoice-approval/policy.js";
import {
  automaticInvoices,
  storyDocuments,
  type SampleInvoice,
} from "../../scenarios/invoice-approval/stories/automatic.js";
import { wireAccounting, wireActivities } from "../../services/worker/activities.js";
import { createWorker } from "../../services/worker/create-worker.js";
import { readSettings, type WorkerSettings } from "../../services/worker/settings.js";
import { wireSweeps } from "../../services/worker/sweeps.js";
import { ledgerDatabase, type TestDatabase } from "./database.js";
import { workflowBundle } from "./workflow-bundle.js";
import { startTestWorld, worldSecrets, type TestWorld } from "./world.js";

export interface InvoiceRig {
  readonly client: Client;
  readonly world: TestWorld;
  readonly database: TestDatabase;
  /** Puts the samples into the document store under the run's ids. */
  putDocuments(token: string, samples?: readonly SampleInvoice[]): Promise<void>;
  /** Accounting commits the run's next posting, and its answer is lost. */
  loseNextPostingAnswer(token: string): Promise<void>;
  /** Accounting as a worker with the default settings sees it. */
  accounting(): Accounting;
  /** Runs `work` while a worker serves a task queue of its own. The worker has drained when this ends. */
  withWorker<Result>(
    options: RigWorkerOptions,
    work: (taskQueue: string) => Promise<Result>,
  ): Promise<Result>;
}

export interface RigWorkerOptions {
  readonly maxCachedWorkflows?: number;
  /** Exchanges activities; given the real ones. */
  readonly exchange?: (real: InvoiceActivities) => Partial<InvoiceActivities>;
  readonly settings?: Readonly<Record<string, string>>;
}

const namespace = "default";

/**
 * The demo's policy, with time-outs that a machine busy with other tests doesn't reach: no test in one process kills
 * anything, so a second attempt would only be one that the test didn't mean.
 */
export const patientPolicy: InvoiceScenarioPolicy = {
  ...demoPolicy,
  workflow: {
    ...demoPolicy.workflow,
    activity: { ...demoPolicy.workflow.activity, heartbeatMs: 10_000 },
    workflowTaskTimeoutMs: 10_000,
  },
};

// Attempts that fail on purpose would fill the screen with warnings.
Runtime.install({ logger: new DefaultLogger("ERROR") });

export interface InvoiceRigOptions {
  /** Of a server of the test file's own, asked for before its tests; default: the one that all files share. */
  readonly temporalAddress?: () => string;
}

/** Call once at the top of a test file, after what starts a server of its own. */
export function invoiceRig({ temporalAddress }: InvoiceRigOptions = {}): InvoiceRig {
  const database = ledgerDatabase();
  let client: Client;
  let connection: NativeConnection;
  let world: TestWorld;

  beforeAll(async () => {
    const address = temporalAddress?.() ?? inject("temporalAddress");
    client = await openTemporalClient({ address, namespace, identity: `test@${process.pid}` });
    connection = await openWorkerConnection({ address, namespace });
    world = await startTestWorld();
  });

  afterAll(async () => {
    await connection?.close();
    await client?.connection.close();
    await world?.dispose();
  });

  return {
    get client() {
      return client;
    },
    get world() {
      return world;
    },
    database,
    putDocuments: async (token, samples = automaticInvoices) => {
      for (const each of await storyDocuments(process.cwd(), token, samples)) {
        await world.control.putDocument(each.documentId, each.mediaType, each.bytes);
      }
    },
    loseNextPostingAnswer: async (token) => {
      await world.control.tellFault({
        kind: "dropAnswer",
        run: token,
        system: "accounting",
        operation: "post",
        times: 1,
      });
    },
    accounting: () => wireAccounting(workerSettings(world, database.url)),
    withWorker: async (options, work) => {
      const taskQueue = `test-${randomBytes(6).toString("hex")}`;
      const identity = `${taskQueue}@${process.pid}`;
      const settings = workerSettings(world, database.url, options.settings);
      const real = await wireActivities(settings, database.ledger, identity);
      const worker = await createWorker({
        connection,
        namespace,
        taskQueue,
        identity,
        activities: { ...real, ...wireSweeps(database.ledger, client), ...options.exchange?.(real) },
        profile: "quick",
        workflowBundle: await workflowBundle(),
        ...(options.maxCachedWorkflows === undefined
          ? {}
          : { maxCachedWorkflows: options.maxCachedWorkflows }),
      });
      return worker.runUntil(work(taskQueue));
    },
  };
}

function workerSettings(
  world: TestWorld,
  ledgerUrl: string,
  more: Readonly<Record<string, string>> = {},
): WorkerSettings {
  return readSettings({
    LEDGER_URL: ledgerUrl,
    ACCOUNTING_URL: world.baseUrl("accounting"),
    ACCOUNTING_API_KEY: worldSecrets.WORLD_ACCOUNTING_API_KEY,
    DOCUMENTS_URL: world.baseUrl("documents"),
    DOCUMENTS_API_KEY: worldSecrets.WORLD_DOCUMENTS_API_KEY,
    SUPPLIERS_FILE: "scenarios/invoice-approval/suppliers.json",
    ACCOUNTING_SETTLE_MS: String(demoPolicy.accounting.settleMs),
    ACCOUNTING_PARK_AFTER_MS: String(demoPolicy.accounting.parkAfterMs),
    ...more,
  });
}
