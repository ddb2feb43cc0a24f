/**
 * What every tap offers, whatever protocol it speaks. A tap belongs to one process: two processes never share a
 * listener, so every connection is attributed without asking.
 */
import type net from "node:net";
import type { ConnectionCounts } from "./connections.js";
import type { TapController } from "./event.js";
import type { ServiceLabel } from "./observer.js";

export interface TapOptions {
  /** Name of the process that will connect. */
  readonly process: string;
  readonly controller: TapController;
  /** Labels that belong to no run by declaration. Default: none. */
  readonly service?: readonly ServiceLabel[];
  /** Hold back what would take work until `activate`. Default: false. */
  readonly standby?: boolean;
}

export interface Tap {
  readonly process: string;
  readonly name: string;
  /** The port on 127.0.0.1 that the process is given instead of its peer's. */
  readonly port: number;
  readonly active: boolean;
  /** Ends the standby. */
  activate(): void;
  connections(): ConnectionCounts;
  /** Resolves when no connection of the process is open any more. */
  whenDisconnected(): Promise<void>;
  /** Resolves when the process has opened its connection number `generation`. */
  whenConnected(generation: number): Promise<void>;
  /**
   * Breaks every connection to the peer at once, without farewell, as the death of the process would; a polite
   * close would leave its polls alive, and they would swallow tasks. Connections kept for a message that outlives
   * the process stay until it was sent.
   */
  destroyUpstream(): void;
  /** How often each kind of service traffic was seen. */
  serviceCounts(): Record<string, number>;
  /** Stops listening and breaks what is open. */
  close(): Promise<void>;
}

/** A peer by host and port, both as numbers and names go: `127.0.0.1`, 5432. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Listens on a free port of 127.0.0.1. */
export function listen(server: net.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      resolve((server.address() as net.AddressInfo).port);
    });
  });
}

/** Stops listening; open connections must have been broken by the caller. */
export function stopListening(server: net.Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
