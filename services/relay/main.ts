/** The relay process. Settings come from the environment; see `settings.ts`. */
import { pino, type Logger } from "pino";

import { openLedger } from "../../adapters/ledger/database.js";
import { checkSchema } from "../../adapters/ledger/migrate.js";
import { createMailProvider } from "../../adapters/providers/index.js";
import { openTemporalClient } from "../../adapters/temporal/client.js";
import { createWorkflowSender } from "../../adapters/temporal/workflow-sender.js";
import type { Dispatcher } from "./dispatch.js";
import { OutboxListener } from "./listener.js";
import { createMailSender } from "./mail-sender.js";
import { runRelay } from "./relay.js";
import { errorForLog } from "../error-log.js";
import { badSettingsExitCode, SettingsError } from "../settings.js";
import { readSettings, type RelaySettings } from "./settings.js";
import { Bell } from "./wake.js";

let settings: RelaySettings | undefined;
try {
  settings = readSettings(process.env);
} catch (error) {
  if (!(error instanceof SettingsError)) {
    throw error;
  }
  process.stderr.write(`${error.message}\n`);
  process.exitCode = badSettingsExitCode;
}
if (settings !== undefined) {
  const identity = `${settings.RELAY_NAME}@${process.pid}`;
  const logger = pino({
    level: settings.RELAY_LOG_LEVEL,
    base: { service: "relay", identity },
    serializers: { err: errorForLog },
  });
  try {
    await serve(settings, identity, logger);
  } catch (error) {
    logger.fatal({ err: error }, "the relay could not run");
    process.exitCode = 1;
  }
}

/** Runs until SIGTERM or SIGINT, and then ends the round that is under way. */
async function serve(settings: RelaySettings, identity: string, logger: Logger): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => stop.abort());
  }
  const ledger = openLedger({
    url: settings.LEDGER_URL,
    applicationName: identity,
    onIdleConnectionLost: (error) => logger.warn({ err: error }, "a connection to the ledger was lost"),
  });
  try {
    await checkSchema(ledger, settings.LEDGER_URL);
    const client = await openTemporalClient({
      address: settings.TEMPORAL_ADDRESS,
      namespace: settings.TEMPORAL_NAMESPACE,
      identity,
      ...(settings.TEMPORAL_API_KEY === undefined ? {} : { apiKey: settings.TEMPORAL_API_KEY }),
    });
    const bell = new Bell();
    const listener = new OutboxListener({
      url: settings.LEDGER_URL,
      applicationName: `${identity} listener`,
      onWake: () => bell.ring(),
      onLost: (error, retryAfterMs) =>
        logger.warn({ err: error, retryAfterMs }, "not listening; the poll goes on"),
    });
    try {
      await listener.start();
      const running = runRelay(
        {
          ledger,
          owner: identity,
          leaseMs: settings.RELAY_LEASE_MS,
          batchSize: settings.RELAY_BATCH_SIZE,
          pollMs: settings.RELAY_POLL_MS,
          bell,
          sendToWorkflow: createWorkflowSender({ client, timeoutMs: settings.RELAY_SEND_TIMEOUT_MS }),
          sendMail: createMailSender(mailProvider(settings)),
          onSettled: settlementLog(logger),
          onLedgerFailure: (error, retryAfterMs) =>
            logger.error({ err: error, retryAfterMs }, "a round failed; what it claimed waits for its lease"),
        },
        stop.signal,
      );
      process.stdout.write(`${JSON.stringify({ event: "ready", identity, pid: process.pid })}\n`);
      await running;
      logger.info({ event: "stopped" });
    } finally {
      await listener.stop();
      await client.connection.close();
    }
  } finally {
    await ledger.destroy();
  }
}

function mailProvider(settings: RelaySettings) {
  return createMailProvider({
    baseUrl: settings.MAIL_URL,
    apiKey: settings.MAIL_API_KEY,
    timeoutMs: settings.RELAY_SEND_TIMEOUT_MS,
    policy: {
      honoursKeys: true,
      keysLiveForMs: settings.MAIL_KEYS_LIVE_MS,
      canFind: false,
      // The outbox has its own rules for what is uncertain: send again under the same key, or ask a person.
      settleMs: 0,
      parkAfterMs: 0,
    },
  });
}

/** One line for each message: which one, and what came of it; never its content. */
function settlementLog(logger: Logger): NonNullable<Dispatcher["onSettled"]> {
  return (message, delivery, result) => {
    const line = {
      messageKey: message.messageKey,
      kind: message.message.kind,
      claim: message.claim,
      delivery: delivery.delivery,
      ...(result === "stale" ? { stale: true } : {}),
    };
    switch (delivery.delivery) {
      case "sent":
        logger.info(line, "message sent");
        break;
      case "again":
        logger.warn({ ...line, error: delivery.error }, "message has to be sent again");
        break;
      case "failed":
        logger.warn({ ...line, reason: delivery.reason }, "message can't be delivered");
    }
  };
}
