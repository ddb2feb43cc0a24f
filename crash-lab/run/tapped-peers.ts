/** The taps between one process and its peers. */
import type { Peers, TappedPeers } from "../lab-definition.js";
import { openHttpTap } from "../taps/http/http-tap.js";
import { openPostgresTap } from "../taps/postgres/postgres-tap.js";
import type { Address, Tap, TapOptions } from "../taps/tap.js";
import { openTemporalTap } from "../taps/temporal/temporal-tap.js";
import { LabFault } from "./lab-fault.js";

/** Opens listeners of the process's own in front of every peer, so that every connection is known to be its. */
export async function openTaps(
  peers: Peers,
  options: TapOptions,
): Promise<{ readonly taps: readonly Tap[]; readonly tapped: TappedPeers }> {
  const taps: Tap[] = [];
  const opened = async (opening: Promise<Tap>): Promise<string> => {
    const tap = await opening;
    taps.push(tap);
    return `127.0.0.1:${tap.port}`;
  };
  const temporal = peers.temporal && {
    address: await opened(openTemporalTap({ ...options, upstream: addressOf(peers.temporal.address) })),
    namespace: peers.temporal.namespace,
  };
  const postgres: Record<string, string> = {};
  for (const [name, url] of Object.entries(peers.postgres ?? {})) {
    const address = addressOf(new URL(url).host, postgresPort);
    postgres[name] = withHost(url, await opened(openPostgresTap({ ...options, name, upstream: address })));
  }
  const http: Record<string, string> = {};
  for (const [name, { url, routes }] of Object.entries(peers.http ?? {}))
    http[name] = withHost(url, await opened(openHttpTap({ ...options, name, upstream: url, routes })));
  return { taps, tapped: { temporal: temporal ?? { address: "", namespace: "" }, postgres, http } };
}

/** Of a connection URL that names none. */
const postgresPort = 5432;

function addressOf(hostAndPort: string, defaultPort?: number): Address {
  const match = /^(.+?)(?::(\d+))?$/.exec(hostAndPort);
  const port = match?.[2] === undefined ? defaultPort : Number(match[2]);
  if (!match || port === undefined) throw new LabFault(`"${hostAndPort}" is no address; it takes host:port`);
  return { host: match[1]!.replace(/^\[|\]$/g, ""), port };
}

/** The same URL at another host and port. */
function withHost(url: string, host: string): string {
  const changed = new URL(url);
  changed.host = host;
  return changed.href.replace(/\/$/, url.endsWith("/") ? "/" : "");
}
