/**
 * The tap for HTTP, in both places: between a process and one outside system, and in front of a process that
 * serves callers. It is the same proxy; at the ingress the callers are the clients, and what the event *after* says
 * is what a caller would be told.
 */
import http from "node:http";
import type net from "node:net";
import { ConnectionBook } from "../connections.js";
import type { ConnectionInfo } from "../event.js";
import { Observer } from "../observer.js";
import { StandbyGate } from "../standby.js";
import { tapHandle } from "../tap-handle.js";
import { listen, stopListening, type Tap, type TapOptions } from "../tap.js";
import { HttpExchange } from "./exchange.js";
import { RouteTable } from "./routes.js";

export interface HttpTapOptions extends TapOptions {
  /** Name of the outside system, or `ingress`. */
  readonly name: string;
  /** Base URL of the other side. A function is asked for each request: a process that restarts has another port. */
  readonly upstream: string | (() => string);
  /** `GET /postings/{invoiceKey}`; other requests are named by their path with parts that hold a digit left out. */
  readonly routes?: readonly string[];
}

interface ClientConnection {
  readonly connection: ConnectionInfo;
  /** Ends with the answer to the request before: a client that sends on without waiting is answered in order. */
  last: Promise<void>;
}

/** @throws Error for a route or an upstream that can't be read, naming it. */
export async function openHttpTap(options: HttpTapOptions): Promise<Tap> {
  const { process, name } = options;
  const routes = new RouteTable(options.routes ?? []);
  const upstream = () => baseUrl(options.upstream);
  // Now, and not at the first request.
  if (typeof options.upstream === "string") upstream();
  const observer = new Observer(process, name, options.controller, options.service, {
    before: ["duplicate"],
    after: ["answer-500"],
  });
  const book = new ConnectionBook((note) => observer.note(note));
  const standby = new StandbyGate(options.standby ?? false);
  const exchanges = new Set<HttpExchange>();
  const sockets = new Map<net.Socket, ClientConnection>();

  // No time limits of the tap's own: it must not end a connection that neither side would have ended.
  const server = http.createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
  server.on("connection", (socket) => {
    const connection = book.add(socket.remotePort ?? 0);
    sockets.set(socket, { connection, last: Promise.resolve() });
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => {
      // First, so that whoever waits for the disconnection finds everything that was held dropped.
      for (const exchange of exchanges) if (exchange.belongsTo(socket)) exchange.clientGone();
      book.remove(connection);
      sockets.delete(socket);
    });
  });
  server.on("request", (request: http.IncomingMessage, response: http.ServerResponse) => {
    const client = sockets.get(request.socket);
    if (client === undefined) return void request.socket.destroy();
    const { connection } = client;
    const answered = new Promise<void>((resolve) => response.on("close", () => resolve()));
    const begin = () => {
      const options = { connection, observer, standby, routes, upstream: upstream() };
      const exchange = new HttpExchange(request, response, options);
      exchanges.add(exchange);
      void Promise.all([exchange.run(), answered]).then(() => exchanges.delete(exchange));
    };
    void client.last.then(begin);
    client.last = answered;
  });
  const port = await listen(server);

  return tapHandle({
    port,
    observer,
    book,
    standby,
    destroyUpstream: () => exchanges.forEach((exchange) => exchange.destroyUpstream()),
    close: async () => {
      const stopped = stopListening(server);
      for (const exchange of exchanges) exchange.destroyUpstream();
      for (const socket of sockets.keys()) socket.destroy();
      await stopped;
    },
  });
}

function baseUrl(upstream: HttpTapOptions["upstream"]): URL {
  const text = typeof upstream === "string" ? upstream : upstream();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new Error(
      `upstream "${text}" is no URL of an HTTP service; it takes http://host:port or https://…`,
    );
  }
  return url;
}
