/** The API process. Settings come from the environment; see `settings.ts`. */
import type { AddressInfo } from "node:net";
import { pino, type Logger } from "pino";
import { openLedger } from "../../adapters/ledger/database.js";
import { checkSchema } from "../../adapters/ledger/migrate.js";
import type { InvoicePolicy } from "../../workflows/invoice-approval/policy.js";
import { buildApi, type Api } from "./app.js";
import { readCallers, type CallerDirectory } from "./callers.js";
import { readInvoicePolicy } from "./policy-file.js";
import { errorForLog } from "../error-log.js";
import { badSettingsExitCode, SettingsError } from "../settings.js";
import { readSettings, type ApiSettings } from "./settings.js";

/** A client that doesn't read its answer may not keep the process from ending. Longer than the ledger's lock wait. */
const drainMsMax = 10_000;

interface Configuration {
  readonly settings: ApiSettings;
  readonly callers: CallerDirectory;
  readonly policy: InvoicePolicy;
}

async function configure(): Promise<Configuration | undefined> {
  try {
    const settings = readSettings(process.env);
    const callers = await readCallers(settings.API_CALLERS_FILE);
    return { settings, callers, policy: await readInvoicePolicy(settings.INVOICE_POLICY_FILE) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = badSettingsExitCode;
    return undefined;
  }
}

/** Runs until SIGTERM or SIGINT, and then answers what it has taken on. */
async function serve({ settings, callers, policy }: Configuration, identity: string, logger: Logger) {
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, resolve);
  });
  const ledger = openLedger({
    url: settings.LEDGER_URL,
    applicationName: identity,
    onIdleConnectionLost: (error) => logger.warn({ err: error }, "a connection to the ledger was lost"),
  });
  try {
    await checkSchema(ledger, settings.LEDGER_URL);
    const app = await buildApi({
      ledger,
      callers,
      policy,
      taskQueue: settings.TEMPORAL_TASK_QUEUE,
      openBatchesMax: settings.API_OPEN_BATCHES_MAX,
      logger,
    });
    await app.listen({ host: settings.API_LISTEN_ADDRESS, port: settings.API_PORT });
    const { port } = app.server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ event: "ready", identity, pid: process.pid, port })}\n`);
    logger.info({ event: "stopping", signal: await stop });
    await drain(app, logger);
    logger.info({ event: "stopped" });
  } finally {
    await ledger.destroy();
  }
}

async function drain(app: Api, logger: Logger): Promise<void> {
  const cutShort = setTimeout(() => {
    logger.warn({ event: "drain-cut-short", drainMsMax });
    app.server.closeAllConnections();
  }, drainMsMax);
  try {
    await app.close();
  } finally {
    clearTimeout(cutShort);
  }
}

const configuration = await configure();
if (configuration !== undefined) {
  const { settings } = configuration;
  const identity = `${settings.API_NAME}@${process.pid}`;
  const logger = pino({
    level: settings.API_LOG_LEVEL,
    base: { service: "api", identity },
    serializers: { err: errorForLog },
  });
  try {
    await serve(configuration, identity, logger);
  } catch (error) {
    logger.fatal({ err: error }, "the API could not run");
    process.exitCode = 1;
  }
}
