/**
 * The connection to the Temporal server that belongs to one connection of the process. The server asks its clients
 * from time to time to take a new connection; the old one then ends once its calls are answered.
 */
import http2 from "node:http2";
import type { Address } from "../tap.js";

export interface TemporalUpstream extends Address {
  /** Speak TLS to the server; with certificates where it wants them. Default: in clear. */
  readonly tls?: boolean | http2.SecureClientSessionOptions;
  /** Sent as bearer token. The process itself needs none then. */
  readonly apiKey?: string;
}

/** Megabytes that one connection may keep; polls and histories of many runs meet here, and Node's 10 are too few. */
const sessionMegabytesMax = 512;
/** Bytes on their way per stream before the receiver has to agree to more. */
const streamWindowBytes = 1024 * 1024;

export const sessionOptions = {
  maxSessionMemory: sessionMegabytesMax,
  settings: { initialWindowSize: streamWindowBytes },
} as const;

export class UpstreamLink {
  private current: http2.ClientHttp2Session | undefined;
  private readonly sessions = new Set<http2.ClientHttp2Session>();
  private destroyed = false;

  constructor(
    private readonly upstream: TemporalUpstream,
    /** The server went away without a farewell. */
    private readonly lost: (reason: string) => void,
  ) {}

  request(headers: http2.IncomingHttpHeaders): http2.ClientHttp2Stream {
    return this.session().request(this.headersFor(headers));
  }

  /** At once: no frame says farewell, so the server ends this client's polls itself. */
  destroy(): void {
    this.destroyed = true;
    for (const session of this.sessions) session.destroy();
  }

  private session(): http2.ClientHttp2Session {
    if (this.current !== undefined && !this.current.closed && !this.current.destroyed) return this.current;
    const { host, port, tls } = this.upstream;
    const secure = tls === undefined || tls === false ? {} : tls === true ? {} : tls;
    const session = http2.connect(`${this.isSecure ? "https" : "http"}://${host}:${port}`, {
      ...sessionOptions,
      ...secure,
    });
    this.current = session;
    this.sessions.add(session);
    let reason = "the connection was closed";
    session.on("error", (error) => (reason = error.message));
    session.on("goaway", () => {
      if (this.current === session) this.current = undefined;
      // Calls under way are answered first; nothing new is sent on it.
      session.close();
    });
    session.on("close", () => {
      this.sessions.delete(session);
      if (this.current === session && !this.destroyed) this.lost(reason);
    });
    return session;
  }

  private get isSecure(): boolean {
    return this.upstream.tls !== undefined && this.upstream.tls !== false;
  }

  private headersFor(headers: http2.IncomingHttpHeaders): http2.OutgoingHttpHeaders {
    const { apiKey, host, port } = this.upstream;
    return {
      ...headers,
      ":authority": `${host}:${port}`,
      ":scheme": this.isSecure ? "https" : "http",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    };
  }
}
