/** The project's own folder of downloaded programs. A file in it is always whole: it gets its name last. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ServerDescription } from "./kinds.js";

const platform = `${process.platform}-${process.arch}`;

/** Half-made files older than this were left by a process that was killed while it downloaded. */
const unfinishedMsMax = 60 * 60 * 1000;
const unfinishedPrefix = ".unfinished-";

/** Where the pinned version lies once it is downloaded. */
export const pinnedPath = (cacheFolder: string, server: ServerDescription): string =>
  join(cacheFolder, `${server.program}-${server.pinnedVersion}-${platform}`);

/** Where the SDK's download lies: the SDK chooses its version, so the name says which SDK. */
export const sdkPath = (cacheFolder: string, server: ServerDescription, sdkVersion: string): string =>
  join(cacheFolder, `${server.program}-sdk-${sdkVersion}-${platform}`);

export const isCached = (path: string): boolean => existsSync(path);

/**
 * Makes a finished file in a work folder executable and gives it its name in the cache, in one step. Two processes
 * may do it at once: the later one wins, and both files are whole.
 */
export async function adoptProgram(file: string, path: string): Promise<void> {
  await chmod(file, 0o755);
  await rename(file, path);
}

/** A folder in the cache for half-made things, gone afterwards. */
export async function inWorkFolder<Result>(
  cacheFolder: string,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  await mkdir(cacheFolder, { recursive: true });
  await removeAbandoned(cacheFolder);
  const folder = join(cacheFolder, `${unfinishedPrefix}${randomBytes(6).toString("hex")}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function removeAbandoned(cacheFolder: string): Promise<void> {
  for (const name of await readdir(cacheFolder)) {
    if (!name.startsWith(unfinishedPrefix)) continue;
    const path = join(cacheFolder, name);
    const modifiedMs = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - modifiedMs > unfinishedMsMax) await rm(path, { recursive: true, force: true });
  }
}
