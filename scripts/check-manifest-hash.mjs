// Finds a scenario's windows in two new clones side by side, each with an installation of its own, and compares their
// hashes with each other and with the committed manifest's: node scripts/check-manifest-hash.mjs [scenario]
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const scenario = process.argv[2] ?? "invoice-approval";
const project = join(import.meta.dirname, "..");

async function hashFromNewClone() {
  const folder = await mkdtemp(join(tmpdir(), "killproof-hash-"));
  try {
    await run("git", ["clone", "--quiet", project, folder]);
    await run("npm", ["ci"], { cwd: folder });
    await run("npm", ["run", "build"], { cwd: folder });
    // A window that isn't in the committed manifest, or the other way round, ends this with exit code 1.
    const { stdout } = await run("node", ["dist/cli/main.js", "crash", scenario, "--manifest-only"], {
      cwd: folder,
    });
    return stdout.split("\n")[0];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const hashes = await Promise.all([hashFromNewClone(), hashFromNewClone()]);
for (const hash of hashes) console.log(hash);
const same = new Set(hashes).size === 1;
console.log(same ? "the same" : "different");
process.exitCode = same ? 0 : 1;
