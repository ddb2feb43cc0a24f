/** The pinned wheels: requirement files in pip's own format, beside the sources of this folder. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folderInPackage = join("adapters", "temporal", "server");

/**
 * The compiler copies no text files, so from `dist` the file is found further up: in the folder of the same name
 * in the package.
 */
export function requirementsPath(
  fileName: string,
  from: string = dirname(fileURLToPath(import.meta.url)),
): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, folderInPackage, fileName);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) throw new Error(`${fileName} is missing from the package`);
  }
}

/** The SHA-256 digests that a requirements file allows, in lower-case hex. */
export function allowedDigests(path: string): ReadonlySet<string> {
  const digests = readFileSync(path, "utf8").matchAll(/--hash=sha256:([0-9a-f]{64})/g);
  return new Set([...digests].map(([, digest]) => digest ?? ""));
}
