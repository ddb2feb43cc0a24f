import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserFacingError } from "./errors.js";

/**
 * The folder of this package: the nearest one upwards whose package.json is named `killproof`. The same from the
 * sources (under a test runner), from `dist` and from an installed package.
 */
export function packageRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest)) {
      const { name } = JSON.parse(readFileSync(manifest, "utf8")) as { name?: string };
      if (name === "killproof") return folder;
    }
    if (dirname(folder) === folder) throw new Error(`no package.json named killproof at or above ${from}`);
  }
}

/**
 * A compiled entry point, `services/world/main.js` for example. Processes always run compiled code, also under a
 * test runner: what is killed and measured there is then what a person runs.
 *
 * @throws UserFacingError when it has not been compiled.
 */
export function compiledEntry(entry: string): string {
  const path = join(packageRoot(), "dist", entry);
  if (!existsSync(path)) throw new UserFacingError(`${path} doesn't exist. Run "npm run build" first.`);
  return path;
}
