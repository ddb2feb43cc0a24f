import { Client, Connection } from "@temporalio/client";
import { connectionOptions, type TemporalAddress } from "./address.js";

export interface TemporalClientOptions extends TemporalAddress {
  /** Who asks, as histories show it: `api@4711`. */
  readonly identity: string;
  /** How long to wait for the server at the start, in milliseconds; default 10,000. */
  readonly connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 10_000;

/**
 * Opens a client. The caller closes `client.connection`.
 *
 * @throws Error when the server doesn't answer within `connectTimeoutMs`
 */
export async function openTemporalClient(options: TemporalClientOptions): Promise<Client> {
  const connection = await Connection.connect({
    ...connectionOptions(options),
    connectTimeout: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
  });
  return new Client({ connection, namespace: options.namespace, identity: options.identity });
}
