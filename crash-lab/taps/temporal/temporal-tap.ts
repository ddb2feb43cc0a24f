/**
 * The tap between one process and a Temporal server: HTTP/2 in clear towards the process, in clear or with TLS and
 * an API key towards the server.
 */
import http2 from "node:http2";
import type net from "node:net";
import { ConnectionBook } from "../connections.js";
import type { DeliveredTask } from "../event.js";
import { Observer } from "../observer.js";
import { StandbyGate } from "../standby.js";
import { tapHandle } from "../tap-handle.js";
import { listen, stopListening, type Tap, type TapOptions } from "../tap.js";
import { DeliveryBook } from "./deliveries.js";
import { TemporalSession } from "./session.js";
import { sessionOptions, type TemporalUpstream } from "./upstream.js";

export interface TemporalTapOptions extends TapOptions {
  readonly upstream: TemporalUpstream;
  /** Name in events and windows. Default: `temporal`. */
  readonly name?: string;
}

export interface TemporalTap extends Tap {
  /** Tasks that were delivered to the process and not answered yet, oldest first. */
  openDeliveries(): readonly DeliveredTask[];
}

/** Calls that may wait at once on a connection: many runs are held in one round, and each holds some. */
const concurrentCallsMax = 10_000;

export async function openTemporalTap(options: TemporalTapOptions): Promise<TemporalTap> {
  const name = options.name ?? "temporal";
  const observer = new Observer(options.process, name, options.controller, options.service);
  const book = new ConnectionBook((note) => observer.note(note));
  const standby = new StandbyGate(options.standby ?? false);
  const deliveries = new DeliveryBook();
  const sessions = new Set<TemporalSession>();
  const sockets = new Map<number, net.Socket>();

  const server = http2.createServer({
    ...sessionOptions,
    settings: { ...sessionOptions.settings, maxConcurrentStreams: concurrentCallsMax },
  });
  server.on("connection", (socket: net.Socket) => {
    const clientPort = socket.remotePort ?? 0;
    sockets.set(clientPort, socket);
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(clientPort));
  });
  server.on("session", (client) => {
    const connection = book.add(client.socket.remotePort ?? 0);
    const session = new TemporalSession(client, {
      upstream: options.upstream,
      connection,
      observer,
      standby,
      deliveries,
      resetConnection: () => sockets.get(connection.clientPort)?.resetAndDestroy(),
    });
    sessions.add(session);
    client.on("close", () => {
      book.remove(connection);
      sessions.delete(session);
    });
  });
  server.on("sessionError", (error) => observer.note({ note: "upstream-lost", reason: error.message }));
  const port = await listen(server as unknown as net.Server);

  const handle = tapHandle({
    port,
    observer,
    book,
    standby,
    destroyUpstream: () => sessions.forEach((session) => session.destroyUpstream()),
    close: async () => {
      const stopped = stopListening(server as unknown as net.Server);
      for (const session of sessions) session.destroy();
      for (const socket of sockets.values()) socket.destroy();
      await stopped;
    },
  });
  return Object.assign(handle, { openDeliveries: () => deliveries.open() });
}
