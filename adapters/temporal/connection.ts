import { NativeConnection } from "@temporalio/worker";
import { connectionOptions, type TemporalAddress } from "./address.js";

/**
 * Opens a worker's connection. The caller closes it after its workers have ended.
 *
 * @throws TransportError when the server doesn't answer
 */
export function openWorkerConnection(address: TemporalAddress): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(address));
}
