import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { codeOf, UserFacingError } from "./errors.js";

/** Registered for nobody in particular, above what needs root, and below where systems take outgoing ports from. */
const portMin = 20_000;
const portMaxDefault = 32_767;
const triesMax = 50;

/** Below the range outgoing connections get their ports from; above it everything is taken or unsafe. */
function portMax(): number {
  try {
    const [first] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/);
    const below = Number(first) - 1;
    return below > portMin + 1_000 ? below : portMaxDefault;
  } catch {
    // Only Linux has the file; macOS starts at 49,152.
    return portMaxDefault;
  }
}

/**
 * A TCP port on 127.0.0.1 that is free now, and stays ours to come back to: it lies outside the range of outgoing
 * connections, so while our server is down no client can be given it, not even one that keeps trying to reach us.
 * Between this call and its use another run may take it, so whoever uses it tries again with another.
 */
export async function freePort(): Promise<number> {
  const max = portMax();
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(portMin, max + 1);
    if (await isFree(port)) return port;
  }
  throw new UserFacingError(`no free port between ${portMin} and ${max} on 127.0.0.1 in ${triesMax} tries`);
}

/**
 * For a port that a person named: it is used or refused, never replaced.
 *
 * @throws UserFacingError when it is taken.
 */
export async function requirePort(port: number, purpose: string): Promise<number> {
  if (await isFree(port)) return port;
  throw new UserFacingError(
    `port ${port} for ${purpose} is taken on 127.0.0.1. Name another, or none to have a free one chosen.`,
  );
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      const code = codeOf(error);
      if (code === "EADDRINUSE" || code === "EACCES") resolve(false);
      else reject(error);
    });
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
