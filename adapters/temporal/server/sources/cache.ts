/** What an earlier call downloaded. */
import { isCached, pinnedPath, sdkPath } from "../cache.js";
import { probe } from "../program.js";
import { sdkVersion } from "../sdk-version.js";
import type { Miss, Source } from "./source.js";

export const fromCache: Source = async ({ server, cacheFolder }) => {
  const misses: Miss[] = [];
  for (const path of [pinnedPath(cacheFolder, server), sdkPath(cacheFolder, server, sdkVersion())]) {
    if (!isCached(path)) {
      misses.push({ what: path, reason: "not there" });
      continue;
    }
    const result = await probe(server, path);
    if (typeof result === "string") misses.push({ what: path, reason: result });
    else return { found: true, path, version: versionOf(result.version, path, server.pinnedVersion) };
  }
  return { found: false, misses };
};

/** The file's name says its version where the program itself doesn't. */
const versionOf = (told: string, path: string, pinned: string): string =>
  told === "unknown" && path.includes(`-${pinned}-`) ? pinned : told;
