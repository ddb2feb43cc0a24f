/**
 * The tap between one process and a PostgreSQL server.
 *
 * Not spoken towards the process: TLS (it is told that there is none, which `sslmode=prefer` takes and
 * `sslmode=require` refuses) and TLS negotiated without asking. The connection to the server is in clear.
 */
import net from "node:net";
import { ConnectionBook } from "../connections.js";
import { Observer, messageOf } from "../observer.js";
import { StandbyGate } from "../standby.js";
import { tapHandle } from "../tap-handle.js";
import { listen, stopListening, type Address, type Tap, type TapOptions } from "../tap.js";
import { encryptionRefused, opening, protocolMajor } from "./codes.js";
import { OpeningReader, ProtocolError } from "./frames.js";
import { readOpening } from "./messages.js";
import { PostgresSession } from "./session.js";
import { createStatementReader } from "./statements.js";
import type { FunctionKnowledge } from "./functions.js";

export interface PostgresTapOptions extends TapOptions {
  readonly upstream: Address;
  /** Name in events and windows. Default: `postgres`. */
  readonly name?: string;
  /** What is known of functions that write. Default: those of the server itself. */
  readonly functions?: FunctionKnowledge;
}

export async function openPostgresTap(options: PostgresTapOptions): Promise<Tap> {
  const name = options.name ?? "postgres";
  const observer = new Observer(options.process, name, options.controller, options.service);
  const book = new ConnectionBook((note) => observer.note(note));
  const standby = new StandbyGate(options.standby ?? false);
  const statements = await createStatementReader(options.functions);
  const sessions = new Set<PostgresSession>();
  const sockets = new Set<net.Socket>();

  const track = (socket: net.Socket): net.Socket => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket));
    // The side effects of an error are handled at "close"; without a listener it would end the lab.
    socket.on("error", () => {});
    return socket;
  };
  const connectUpstream = () => track(net.connect(options.upstream.port, options.upstream.host));

  const startSession = (client: net.Socket, startup: Buffer, rest: Buffer) => {
    const connection = book.add(client.remotePort ?? 0);
    const upstream = connectUpstream();
    const session = new PostgresSession({ client, upstream, connection, observer, standby, statements });
    sessions.add(session);
    client.on("close", () => book.remove(connection));
    upstream.on("close", () => sessions.delete(session));
    upstream.write(startup);
    client.on("data", (chunk: Buffer) => session.fromClient(chunk));
    if (rest.length > 0) session.fromClient(rest);
  };

  const server = net.createServer((client) => {
    track(client);
    openConnection(client, {
      startup: (request, rest) => startSession(client, request, rest),
      cancel: (request) => forwardCancel(client, connectUpstream(), request),
      fault: (error) => observer.fault(messageOf(error)),
    });
  });
  const port = await listen(server);

  return tapHandle({
    port,
    observer,
    book,
    standby,
    destroyUpstream: () => sessions.forEach((session) => session.destroyUpstream()),
    close: async () => {
      const stopped = stopListening(server);
      for (const socket of sockets) socket.destroy();
      await stopped;
    },
  });
}

interface OpeningHandlers {
  startup(request: Buffer, rest: Buffer): void;
  cancel(request: Buffer): void;
  fault(error: unknown): void;
}

/** Answers questions about encryption until the client says what it wants. */
function openConnection(client: net.Socket, handlers: OpeningHandlers): void {
  const reader = new OpeningReader();
  const take = (chunk: Buffer): void => {
    try {
      for (let input: Buffer = chunk; ;) {
        const read = reader.read(input);
        if (read === undefined) return;
        const code = readOpening(read.request);
        if (code === opening.sslRequest || code === opening.gssEncryptionRequest) {
          client.write(encryptionRefused);
          input = read.rest;
          continue;
        }
        client.off("data", take);
        if (code === opening.cancelRequest) return handlers.cancel(read.request);
        if (code >>> 16 !== protocolMajor) throw new ProtocolError(`unknown protocol version ${code >>> 16}`);
        return handlers.startup(read.request, read.rest);
      }
    } catch (error) {
      handlers.fault(error);
      client.destroy();
    }
  };
  client.on("data", take);
}

/** A cancel request has a connection of its own and no answer; the end of the server's tells that it was read. */
function forwardCancel(client: net.Socket, upstream: net.Socket, request: Buffer): void {
  upstream.on("close", () => client.end());
  client.on("close", () => upstream.end());
  upstream.resume();
  upstream.write(request);
}
