/** What the environment says about where a server comes from. */
import { homedir } from "node:os";
import { join } from "node:path";
import { InvalidServerSetting, type SourceName } from "./errors.js";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Sources that KILLPROOF_TEMPORAL_SOURCES orders or limits, in the order they are tried without it. */
export const orderedSources = ["path", "cache", "sdk", "pip"] as const satisfies readonly SourceName[];
export type OrderedSource = (typeof orderedSources)[number];

const isSource = (name: string): name is OrderedSource =>
  (orderedSources as readonly string[]).includes(name);

/** @throws InvalidServerSetting when it names an unknown source or none. */
export function sourcesFrom(environment: Environment): readonly OrderedSource[] {
  const value = environment["KILLPROOF_TEMPORAL_SOURCES"];
  if (value === undefined || value.trim() === "") return orderedSources;
  const names = value.split(",").map((name) => name.trim());
  const sources = names.filter(isSource);
  if (sources.length !== names.length || new Set(names).size !== names.length) {
    throw new InvalidServerSetting(
      `KILLPROOF_TEMPORAL_SOURCES is "${value}"; allowed are ${orderedSources.join(", ")}, ` +
        "each at most once, separated by commas.",
    );
  }
  return sources;
}

/** @throws InvalidServerSetting when it isn't host:port. */
export function addressFrom(environment: Environment): string | undefined {
  const value = environment["TEMPORAL_ADDRESS"];
  if (value === undefined || value === "") return undefined;
  const port = Number(/^[^\s/]+:(\d{1,5})$/.exec(value)?.[1]);
  if (!(port >= 1 && port <= 65_535)) {
    throw new InvalidServerSetting(
      `TEMPORAL_ADDRESS is "${value}"; allowed is host:port, as in 127.0.0.1:7233.`,
    );
  }
  return value;
}

/** `${XDG_CACHE_HOME:-~/.cache}/killproof` */
export function cacheFolderFrom(environment: Environment): string {
  return join(environment["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "killproof");
}
