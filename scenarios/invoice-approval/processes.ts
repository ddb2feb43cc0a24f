/** The processes around the worker as the lab starts them: the production programs, with files and figures of a run. */
import type { ProcessSpec } from "../../platform/index.js";
import type { InvoiceEnvironment } from "./environment.js";

/** Runs of one tenant share the limit, and a lab has hundreds of them; those that stay parked stay open. */
const openBatchesMax = 1_000;

/** Sends a message again when it hasn't been answered for this long. Longer than a message is held for a kill. */
const sendTimeoutMs = 1_500;
/** The least above that: a killed relay's messages wait for the end of it. */
const leaseMs = 2_000;
/** How late a message is whose lease has run out. */
const pollMs = 250;

export interface ApiOptions {
  readonly name: string;
  readonly taskQueue: string;
  readonly policyFile: string;
  readonly ledgerUrl: string;
}

export function apiSpec({ office }: InvoiceEnvironment, options: ApiOptions): ProcessSpec {
  return {
    name: options.name,
    entry: "services/api/main.js",
    env: {
      LEDGER_URL: options.ledgerUrl,
      API_CALLERS_FILE: office.callersFile,
      API_NAME: options.name,
      API_OPEN_BATCHES_MAX: String(openBatchesMax),
      INVOICE_POLICY_FILE: options.policyFile,
      TEMPORAL_TASK_QUEUE: options.taskQueue,
    },
  };
}

export interface RelayOptions {
  readonly name: string;
  readonly ledgerUrl: string;
  readonly temporalAddress: string;
  readonly mailUrl: string;
}

export function relaySpec({ temporal, world }: InvoiceEnvironment, options: RelayOptions): ProcessSpec {
  return {
    name: options.name,
    entry: "services/relay/main.js",
    env: {
      LEDGER_URL: options.ledgerUrl,
      TEMPORAL_ADDRESS: options.temporalAddress,
      TEMPORAL_NAMESPACE: temporal.namespace,
      MAIL_URL: options.mailUrl,
      MAIL_API_KEY: world.mail.apiKey,
      RELAY_NAME: options.name,
      RELAY_SEND_TIMEOUT_MS: String(sendTimeoutMs),
      RELAY_LEASE_MS: String(leaseMs),
      RELAY_POLL_MS: String(pollMs),
    },
  };
}
